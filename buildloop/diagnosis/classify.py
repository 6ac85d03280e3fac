"""From the history of a loop to the reason why its gate is red."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from buildloop.diagnosis.categories import category_of, class_of
from buildloop.diagnosis.context import detect_context_exhaustion
from buildloop.diagnosis.dependency import detect_dependency_issue
from buildloop.diagnosis.evidence import Evidence
from buildloop.diagnosis.fingerprint import fingerprint
from buildloop.diagnosis.flakiness import detect_test_flakiness
from buildloop.diagnosis.model import Attempt, Diagnosis, FailureMode, LogReading
from buildloop.diagnosis.repository import names_in_repository
from buildloop.diagnosis.signals import scan, with_scan
from buildloop.diagnosis.stuck import detect_infinite_loop
from buildloop.diagnosis.suspicion import suspect

UNEXPLAINED, STATED_ERROR = 0.5, 0.75


def diagnose(
    history: Sequence[Attempt],
    *,
    context_window: int | None = None,
    context_threshold: int = 70,
    first_party: Collection[str] = (),
    repo: Path | None = None,
    baseline: LogReading | None = None,
) -> Diagnosis:
    """`history` is oldest first and ends with the red gate to explain."""
    history = (*history[:-1], _scanned(history[-1]))
    own = frozenset(first_party) | (names_in_repository(repo) if repo else frozenset())
    # In this order: a full window explains any failure, a missing package explains any test,
    # and only what neither explains can be flaky or a loop.
    detected = (
        detect_context_exhaustion(
            history, context_window=context_window, context_threshold=context_threshold
        ),
        detect_dependency_issue(history, first_party=own),
        detect_test_flakiness(history),
        detect_infinite_loop(history),
    )
    first, *others = [*(evidence for evidence in detected if evidence), _code_error(history[-1])]
    reading, kind = history[-1].reading, class_of(history[-1].reading)
    suspected = suspect(history, kind, context_window=context_window, context_threshold=context_threshold)
    return Diagnosis(
        first.mode,
        first.confidence,
        first.lines,
        runner_up=others[0].mode if others else suspected,
        category=category_of(reading, own),
        error_class=kind,
        preexisting=_preexisting(reading, baseline),
    )


def _scanned(attempt: Attempt) -> Attempt:
    """Readings made without a scan of the log still hold its most telling lines."""
    reading = attempt.reading
    if reading.scanned:
        return attempt
    lines = (*(line for finding in reading.findings for line in finding.lines), *reading.error_lines)
    return replace(attempt, reading=with_scan(reading, scan(tuple(dict.fromkeys(lines)))))


def _code_error(last: Attempt) -> Evidence:
    stated = last.reading.error_lines[:3]
    return Evidence(FailureMode.CODE_ERROR, STATED_ERROR if stated else UNEXPLAINED, stated)


def _preexisting(reading: LogReading, baseline: LogReading | None) -> tuple[str, ...]:
    """What failed before the agent began, by the name of the test or else the message."""
    if baseline is None:
        return ()
    known = {fingerprint(finding) for finding in baseline.findings}
    return tuple(
        finding.test or finding.message for finding in reading.findings if fingerprint(finding) in known
    )
