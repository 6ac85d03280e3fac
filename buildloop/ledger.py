"""Every agent call of a run, paid or failed: one line a call in `ledger.jsonl`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, ValidationError

from buildloop.files import append_line, write_atomic
from buildloop.models import AgentOutcome, AgentReply, Frozen, Usage

LEDGER_FILE = "ledger.jsonl"
UNDER_WAY_FILE = "call-under-way"
ENDING_BYTES = 256

# These ended before a model worked for us; an unknown cost of theirs is no cost.
UNPAID = frozenset({AgentOutcome.TRANSIENT, AgentOutcome.REFUSED})


class Call(Frozen):
    """One agent call. `agent` is the rung of the ladder as the user wrote it, e.g. `claude:opus`."""

    session: int
    iteration: int
    agent: str
    ended: datetime
    outcome: AgentOutcome
    seconds: float
    usage: Usage
    error: str = ""
    interrupted: bool = Field(False, description="It was cut off before it could say what it used.")

    @property
    def tokens(self) -> int | None:
        known = (self.usage.input_tokens, self.usage.output_tokens)
        return None if known == (None, None) else self.usage.all_tokens

    @property
    def paid(self) -> bool:
        return self.outcome not in UNPAID


@dataclass(frozen=True, slots=True)
class Ledger:
    path: Path

    def calls(self) -> list[Call]:
        """In order; a line that a crash tore is passed over."""
        return list(_read_on(self.path).calls)

    def spent(self) -> Usage:
        """What all calls together used; a figure that no call reported stays unknown."""
        return _read_on(self.path).total

    def has_answer(self, session: int, iteration: int) -> bool:
        return any(
            call.session == session and call.iteration == iteration and call.paid and not call.interrupted
            for call in reversed(_read_on(self.path).calls)
        )

    def begin(self, session: int, iteration: int) -> None:
        """Note that a call is under way, so that one which never returns is not taken for free."""
        write_atomic(self._under_way, f"{session} {iteration} {time.time()}\n", view=True)

    def add(self, call: Call) -> None:
        append_line(self.path, call.model_dump_json())
        self._under_way.unlink(missing_ok=True)

    def close_interrupted(self, session: int, iteration: int, agent: str) -> None:
        """Account for a call of this iteration that a crash or a cancellation cut off."""
        try:
            *place, began = self._under_way.read_text().split()
            since = float(began)
        except (FileNotFoundError, ValueError):
            return
        if place != [str(session), str(iteration)]:
            return
        now = datetime.now(UTC)
        seconds = round(max(0.0, now.timestamp() - since), 3)
        self.add(
            Call(
                session=session,
                iteration=iteration,
                agent=agent,
                ended=now,
                outcome=AgentOutcome.CRASHED,
                seconds=seconds,
                usage=Usage(),
                error="interrupted",
                interrupted=True,
            )
        )

    @property
    def _under_way(self) -> Path:
        return self.path.with_name(UNDER_WAY_FILE)


def call_of(session: int, iteration: int, reply: AgentReply, ended: datetime) -> Call:
    return Call(
        session=session,
        iteration=iteration,
        agent=reply.agent,
        ended=ended,
        outcome=reply.outcome,
        seconds=round(reply.seconds, 3),
        usage=reply.usage,
        error=reply.error,
    )


def add_up(usages: Sequence[Usage]) -> Usage:
    """The sum of what was reported; a figure nobody reported stays unknown."""

    def total(name: str) -> float | None:
        values = [getattr(usage, name) for usage in usages if getattr(usage, name) is not None]
        return sum(values) if values else None

    summed = {name: total(name) for name in Usage.model_fields if name != "context_tokens"}
    last = usages[-1].context_tokens if usages else None
    return Usage.model_validate({**summed, "context_tokens": last})


@dataclass(frozen=True, slots=True)
class _Reading:
    """A ledger as far as it was read, whole lines only: some are added, and every step asks for it. `ending` shows that
    the file is still the same."""

    size: int = 0
    ending: bytes = b""
    calls: tuple[Call, ...] = ()
    total: Usage = field(default_factory=Usage)

    def with_lines(self, text: bytes) -> _Reading:
        new = tuple(call for line in text.splitlines() if (call := _read(line)))
        total = add_up([self.total, *(call.usage for call in new)]) if new else self.total
        ending = (self.ending + text)[-ENDING_BYTES:]
        return _Reading(self.size + len(text), ending, (*self.calls, *new), total)


_readings: dict[Path, _Reading] = {}


def _read_on(path: Path) -> _Reading:
    known = _readings.get(path, _Reading())
    try:
        with path.open("rb") as stream:
            stream.seek(known.size - len(known.ending))
            if stream.read(len(known.ending)) != known.ending:
                known = _Reading()
                stream.seek(0)
            text = stream.read()
    except FileNotFoundError:
        return _Reading()
    whole = text.rpartition(b"\n")
    _readings[path] = known = known.with_lines(whole[0] + whole[1])
    return known.with_lines(whole[2])


def _read(line: bytes) -> Call | None:
    try:
        return Call.model_validate_json(line)
    except ValidationError:
        return None
