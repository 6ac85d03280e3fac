"""Dependency issue: what is missing or in conflict is not the project's own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from buildloop.diagnosis.cause import causes
from buildloop.diagnosis.evidence import Evidence
from buildloop.diagnosis.model import Attempt, FailureMode, Finding, LogReading, SignalKind
from buildloop.diagnosis.ownership import is_own
from buildloop.gate.parsers.frames import is_foreign

INSTALL_FAILED, NOT_INSTALLED, BROKEN = 0.92, 0.85, 0.7
COMPILERS = frozenset({"rustc", "gcc", "msvc", "javac", "tsc", "go"})


def detect_dependency_issue(
    history: Sequence[Attempt], *, first_party: Collection[str] = ()
) -> Evidence | None:
    reading = history[-1].reading
    own = frozenset(first_party) | reading.own_names
    failed = causes(reading, SignalKind.INSTALL)
    absent = [signal for signal in causes(reading, SignalKind.MISSING) if not is_own(signal, own)]
    if not failed and not absent:
        return _broken(reading)
    confidence = INSTALL_FAILED if failed else NOT_INSTALLED
    reasons = [f"{signal.subject} is not the project's own" for signal in absent[:1] if signal.subject]
    return Evidence(
        FailureMode.DEPENDENCY_ISSUE, confidence, (*reasons, *(s.line for s in (*failed, *absent)[:3]))
    )


def _broken(reading: LogReading) -> Evidence | None:
    """Somebody else's code does not even compile here: it does not fit the toolchain."""
    placed = [finding for finding in reading.findings if finding.file]
    if not placed or not all(
        _does_not_compile(finding) and is_foreign(finding.file or "") for finding in placed
    ):
        return None
    line = f"{placed[0].file} is not the project's own and does not compile"
    return Evidence(FailureMode.DEPENDENCY_ISSUE, BROKEN, (line, *placed[0].lines[:2]))


def _does_not_compile(finding: Finding) -> bool:
    return finding.tool in COMPILERS or (finding.type or "").endswith("SyntaxError")
