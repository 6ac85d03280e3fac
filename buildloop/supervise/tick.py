"""One look of the supervisor: new requests, ended runs, what to start next. May be killed between any two lines.

Order makes it safe: an attempt is written down before it is started, it is started under a key that the launcher
knows again, and what is said has a key, too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pydantic import ValidationError

from buildloop.config import Setting, make_request
from buildloop.errors import InputError
from buildloop.recovery.strategies import strategy_for
from buildloop.redact import redactor
from buildloop.request_secrets import without_secrets
from buildloop.supervise.classify import broad_class, granular_mode
from buildloop.supervise.ledger import Ledger
from buildloop.supervise.model import Attempt, Case, Ending, Status
from buildloop.supervise.plan import Later, Policy, most_retries, next_attempt
from buildloop.supervise.source import Item, Source
from buildloop.supervise.words import final_report, retry_note


class Launcher(Protocol):
    def start(self, attempt: Attempt) -> str:
        """Have it run at its time, and say what it is called. The same key is the same run."""

    def ended(self, attempt: Attempt) -> Ending | None:
        """How it ended; None while it has not."""


@dataclass(frozen=True, slots=True)
class Tick:
    """What one look did, for people."""

    new: int = 0
    started: int = 0
    done: int = 0
    given_up: int = 0
    waiting: int = 0


def look(source: Source, ledger: Ledger, launcher: Launcher, policy: Policy, now: datetime) -> Tick:
    with ledger.held():
        new = sum(_take_in(item, ledger) for item in source.items())
        known = ledger.cases()
        recent = sum(each.start_at > now - policy.window for case in known for each in case.attempts)
        after = []
        for case in known:
            after.append(_advance(case, source, ledger, launcher, policy, now, recent))
            recent += len(after[-1].attempts) - len(case.attempts)
    moved = [case.status for before, case in zip(known, after, strict=True) if before.status != case.status]
    begun = sum(len(case.attempts) - len(before.attempts) for before, case in zip(known, after, strict=True))
    waiting = sum(case.status is Status.OPEN for case in after)
    return Tick(new, begun, moved.count(Status.DONE), moved.count(Status.GIVEN_UP), waiting)


def _take_in(item: Item, ledger: Ledger) -> bool:
    """A request is taken once. One that was refused is looked at again when it has changed."""
    known = ledger.case(item.id)
    if known is not None and (known.status is not Status.INVALID or known.digest == item.digest):
        return False
    problem, mask = item.problem or _problem(item), redactor(os.environ)
    words = {name: item.fields.get(name) for name in ("goal", "context")}
    fields = {**item.fields, **{name: mask(text) for name, text in words.items() if isinstance(text, str)}}
    case = Case(id=item.id, title=mask(item.title), digest=item.digest, fields=fields, why=problem)
    ledger.write(case.model_copy(update={"status": Status.INVALID if problem else Status.OPEN}))
    return True


def _problem(item: Item) -> str:
    try:
        request = make_request({name: Setting(value, name) for name, value in item.fields.items()})
        without_secrets(request, os.environ)
    except (InputError, ValidationError) as error:
        return str(error)
    return ""


def _advance(
    case: Case,
    source: Source,
    ledger: Ledger,
    launcher: Launcher,
    policy: Policy,
    now: datetime,
    recent_starts: int,
) -> Case:
    """As far as the case can go now. Each step is written down before the next one is made."""
    if case.status is Status.INVALID:
        return _said(
            case, source, ledger, f"invalid-{case.digest[:8]}", f"This request cannot be run: {case.why}."
        )
    if case.status is not Status.OPEN:
        return _said(case, source, ledger, "end", final_report(case))
    if case.last is not None and case.last.ending is None:
        case = _looked_after(case, ledger, launcher)
    if case.last is not None and (case.last.ending is None or case.last.ending.complete):
        return case if case.last.ending is None else _closed(case, source, ledger, Status.DONE, "")
    decided = next_attempt(case, policy, now, recent_starts)
    if isinstance(decided, Attempt):
        return _started(case, decided, source, ledger, launcher)
    return case if isinstance(decided, Later) else _closed(case, source, ledger, Status.GIVEN_UP, decided.why)


def _looked_after(case: Case, ledger: Ledger, launcher: Launcher) -> Case:
    """Started, if a crash kept us from it; and its end written down with what it means."""
    assert case.last is not None
    if case.last.handle is None:
        case = ledger.write(case.with_last(handle=launcher.start(case.last)))
    assert case.last is not None
    ending = launcher.ended(case.last)
    if ending is None:
        return case
    if ending.complete:
        return ledger.write(case.with_last(ending=ending))
    broad, mode = broad_class(ending), granular_mode(ending)
    action = strategy_for(mode).action if mode else None
    attempt = len(case.attempts)
    if ledger.untold("daemon.failure_classified", case):
        ledger.events.emit("daemon.failure_classified", issue=case.id, attempt=attempt, broad_class=broad)
    if mode is not None and ledger.untold("daemon.granular_failure", case):
        ledger.events.emit(
            "daemon.granular_failure",
            issue=case.id,
            attempt=attempt,
            broad_class=broad,
            granular_mode=mode,
            action=action,
        )
    return ledger.write(case.with_last(ending=ending, broad=broad, granular=mode, action=action))


def _started(case: Case, attempt: Attempt, source: Source, ledger: Ledger, launcher: Launcher) -> Case:
    if case.last is not None:
        most, retry = most_retries(case.last), attempt.number - 1
        if ledger.untold("daemon.retry", case):
            ledger.events.emit(
                "daemon.retry",
                issue=case.id,
                attempt=len(case.attempts),
                retry=retry,
                max=most,
                broad_class=case.last.broad,
            )
        case = _said(case, source, ledger, f"retry-{retry}", retry_note(case.last, attempt))
    case = ledger.write(case.model_copy(update={"attempts": (*case.attempts, attempt)}))
    return ledger.write(case.with_last(handle=launcher.start(attempt)))


def _closed(case: Case, source: Source, ledger: Ledger, status: Status, why: str) -> Case:
    if status is Status.GIVEN_UP and ledger.untold("daemon.retry_exhausted", case):
        ledger.events.emit(
            "daemon.retry_exhausted",
            issue=case.id,
            attempt=len(case.attempts),
            retries=case.retries,
            why=why,
        )
    case = ledger.write(case.model_copy(update={"status": status, "why": why}))
    return _said(case, source, ledger, "end", final_report(case))


def _said(case: Case, source: Source, ledger: Ledger, key: str, text: str) -> Case:
    if key in case.said:
        return case
    source.say(case.id, key, text)
    return ledger.write(case.model_copy(update={"said": (*case.said, key)}))
