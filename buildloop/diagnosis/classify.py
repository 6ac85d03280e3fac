"""From the history of a loop to the reason why its gate is red."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from buildloop.diagnosis.fingerprint import fingerprint_reading
from buildloop.diagnosis.model import Attempt, Diagnosis, FailureMode, LogReading

MISSING_PACKAGE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'|npm ERR! .*ERESOLVE")


def diagnose(
    history: Sequence[Attempt],
    *,
    context_window: int | None = None,
    context_threshold: int = 70,
    first_party: Collection[str] = (),
    baseline: LogReading | None = None,
) -> Diagnosis:
    """`history` is oldest first and ends with the red gate to explain."""
    last = history[-1]
    if last.agent_status == "overflow" or _fill(last, context_window) >= context_threshold:
        return Diagnosis(FailureMode.CONTEXT_EXHAUSTION, 0.95, ("the agent's context is full",))
    for other in history[:-1]:
        if other.passed and last.tree and other.tree == last.tree:
            return Diagnosis(FailureMode.TEST_FLAKINESS, 0.95, ("the same tree passed and failed",))
    for line in last.reading.error_lines:
        found = MISSING_PACKAGE.search(line)
        if found and (found.group(1) or "").split(".")[0] not in first_party:
            return Diagnosis(FailureMode.DEPENDENCY_ISSUE, 0.8, (line,))
    recent = list({a.tree: a for a in history if not a.passed}.values())[-3:]
    prints = {fingerprint_reading(a.reading) for a in recent}
    if len(recent) == 3 and len(prints) == 1 and len({a.tree for a in recent}) > 1:
        return Diagnosis(FailureMode.INFINITE_LOOP, 0.8, ("the same failure three times in a row",))
    return Diagnosis(FailureMode.CODE_ERROR, 0.6, last.reading.error_lines[:3])


def _fill(attempt: Attempt, window: int | None) -> int:
    return 100 * (attempt.context_tokens or 0) // window if window else 0
