"""Tests that were proven flaky and do not decide for a while: by verdict, with an expiry, never by editing tests."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from buildloop.errors import InputError
from buildloop.files import locked, write_atomic
from buildloop.models import Frozen, GateReport, Verdict
from buildloop.recovery.rerun.early_stop import may_stop_early

EXPIRY = timedelta(days=14)
FOLDER = "quarantine"


class Evidence(Frozen):
    """One tree on which the test had more than one outcome, in order."""

    run: str
    tree: str
    outcomes: tuple[str, ...]


class Quarantined(Frozen):
    test: str
    since: datetime
    until: datetime
    evidence: tuple[Evidence, ...]


ENTRIES = TypeAdapter(tuple[Quarantined, ...])


def entries(store: Path, repo_id: str, now: datetime) -> tuple[Quarantined, ...]:
    """What is in quarantine at `now`; `store` is the state directory."""
    return _valid(_read(_file(store, repo_id)), now)


def quarantined(store: Path, repo_id: str, now: datetime) -> frozenset[str]:
    return frozenset(entry.test for entry in entries(store, repo_id, now))


def add(
    store: Path,
    repo_id: str,
    tests: Collection[str],
    evidence: Evidence,
    now: datetime,
    expiry: timedelta = EXPIRY,
) -> tuple[Quarantined, ...]:
    """Put `tests` in quarantine, or prolong it with new evidence. Drops what has expired; returns what is in it."""
    if len(set(evidence.outcomes)) < 2:
        raise InputError(f"a test with one outcome on tree {evidence.tree[:10]} is not flaky")
    with _alone(_file(store, repo_id)) as path:
        known = {entry.test: entry for entry in _valid(_read(path), now)}
        for test in tests:
            old = known.get(test)
            seen = (*(one for one in (old.evidence if old else ()) if one != evidence), evidence)
            known[test] = Quarantined(
                test=test, since=old.since if old else now, until=now + expiry, evidence=seen
            )
        kept = tuple(known.values())
        write_atomic(path, ENTRIES.dump_json(kept, indent=2).decode() + "\n")
    return kept


def judge(report: GateReport, quarantined: Collection[str]) -> GateReport:
    """A red gate passes if nothing but quarantined tests failed in it, and says so; its failures are kept."""
    failing = set(report.reading.failing)
    if report.verdict is not Verdict.FAILED or not failing or not failing <= set(quarantined):
        return report
    if not _explained(report, failing):
        return report
    names = ", ".join(sorted(failing))
    green = replace(report.reading, findings=(), failing=(), error_lines=())
    return report.model_copy(
        update={
            "verdict": Verdict.PASSED,
            "reading": green,
            "excused": report.reading.findings,
            "explanation": f"Passed although red: only quarantined flaky tests failed ({names}).",
        }
    )


def _explained(report: GateReport, failing: set[str]) -> bool:
    """Whether the named tests are all that is wrong: one command was red and ran to its end, every finding is a test's,
    and no more failures were counted than named. Some runners title a finding otherwise than they list it; then the
    count tells."""
    reading = report.reading
    named = [finding for finding in reading.findings if finding.test]
    known = reading.counts is not None or all(finding.test in failing for finding in named)
    counted = reading.counts.failed if reading.counts else len(failing)
    red = [command for command in report.commands if command.verdict is not Verdict.PASSED]
    return (
        len(red) == 1
        and not may_stop_early(red[0].command)
        and len(named) == len(reading.findings)
        and known
        and counted <= max(len(failing), len(named))
    )


def _valid(known: Collection[Quarantined], now: datetime) -> tuple[Quarantined, ...]:
    return tuple(entry for entry in known if entry.until > now)


def _file(store: Path, repo_id: str) -> Path:
    return store / FOLDER / f"{repo_id}.json"


def _read(path: Path) -> tuple[Quarantined, ...]:
    try:
        return ENTRIES.validate_json(path.read_bytes())
    except FileNotFoundError:
        return ()
    except ValidationError as error:
        raise InputError(f"{path} is damaged: {error.errors()[0]['msg']}") from None


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[Path]:
    """One writer at a time. The lock is a file of its own: an atomic write replaces the other one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("ab") as stream, locked(stream.fileno()):
        yield path
