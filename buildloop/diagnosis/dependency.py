"""Dependency issue: what is missing or in conflict is not the project's own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from buildloop.diagnosis.evidence import Evidence
from buildloop.diagnosis.model import Attempt, FailureMode, LogReading, Signal, SignalKind
from buildloop.diagnosis.ownership import is_own
from buildloop.diagnosis.signals import read_line

INSTALL_FAILED, NOT_INSTALLED = 0.92, 0.85


def detect_dependency_issue(
    history: Sequence[Attempt], *, first_party: Collection[str] = ()
) -> Evidence | None:
    reading = history[-1].reading
    own = frozenset(first_party) | reading.own_names
    signals = reading.signals or _signals_of(reading)
    failed = [signal for signal in signals if signal.kind is SignalKind.INSTALL]
    absent = [signal for signal in signals if signal.kind is SignalKind.MISSING and not is_own(signal, own)]
    if not failed and not absent:
        return None
    confidence = INSTALL_FAILED if failed else NOT_INSTALLED
    reasons = [f"{signal.subject} is not the project's own" for signal in absent[:1] if signal.subject]
    return Evidence(
        FailureMode.DEPENDENCY_ISSUE, confidence, (*reasons, *(s.line for s in (*failed, *absent)[:3]))
    )


def _signals_of(reading: LogReading) -> tuple[Signal, ...]:
    """What the lines already chosen from the log prove, for readings made without a scan."""
    lines = dict.fromkeys(
        (*reading.error_lines, *(line for finding in reading.findings for line in finding.lines))
    )
    return tuple(signal for line in lines if (signal := read_line(line)))
