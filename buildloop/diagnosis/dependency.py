"""Dependency issue: what is missing or in conflict is not the project's own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from buildloop.diagnosis.cause import causes
from buildloop.diagnosis.evidence import Evidence
from buildloop.diagnosis.model import Attempt, FailureMode, SignalKind
from buildloop.diagnosis.ownership import is_own

INSTALL_FAILED, NOT_INSTALLED = 0.92, 0.85


def detect_dependency_issue(
    history: Sequence[Attempt], *, first_party: Collection[str] = ()
) -> Evidence | None:
    reading = history[-1].reading
    own = frozenset(first_party) | reading.own_names
    failed = causes(reading, SignalKind.INSTALL)
    absent = [signal for signal in causes(reading, SignalKind.MISSING) if not is_own(signal, own)]
    if not failed and not absent:
        return None
    confidence = INSTALL_FAILED if failed else NOT_INSTALLED
    reasons = [f"{signal.subject} is not the project's own" for signal in absent[:1] if signal.subject]
    return Evidence(
        FailureMode.DEPENDENCY_ISSUE, confidence, (*reasons, *(s.line for s in (*failed, *absent)[:3]))
    )
