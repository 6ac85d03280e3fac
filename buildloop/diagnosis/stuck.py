"""Infinite loop: the failures repeat although the agent works, or the work goes round in circles."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise

from buildloop.diagnosis.evidence import Evidence
from buildloop.diagnosis.history import failing_tests, signature, trailing_failures
from buildloop.diagnosis.model import Attempt, FailureMode, SignalKind

REPEATS = 3
# Other messages of the same test are attempts that learn; only many without one test fewer are a loop.
SAME_TESTS_REPEATS = 5
SHORTEST_CYCLE, LONGEST_CYCLE = 2, 4
SAME_FAILURE, CIRCLE, SAME_TESTS, SAID_BY_AGENT = 0.9, 0.85, 0.65, 0.9
STUCK_STATUSES = frozenset({"stuck", "diverging", "loop_detected"})


def detect_infinite_loop(history: Sequence[Attempt]) -> Evidence | None:
    failures = trailing_failures(history)
    return (
        _said_by_agent(history[-1])
        or _repeats(failures)
        or _idles(failures)
        or _circles(failures[-2 * LONGEST_CYCLE :])
        or _same_tests(failures)
    )


def _said_by_agent(last: Attempt) -> Evidence | None:
    if last.agent_status in STUCK_STATUSES:
        return Evidence(
            FailureMode.INFINITE_LOOP, SAID_BY_AGENT, (f"the loop's status is {last.agent_status}",)
        )
    said = [signal.line for signal in last.reading.signals if signal.kind is SignalKind.AGENT_LOOP]
    return Evidence(FailureMode.INFINITE_LOOP, SAID_BY_AGENT, tuple(said[:2])) if said else None


def _repeats(failures: Sequence[Attempt]) -> Evidence | None:
    """The same failures in each of the last attempts."""
    recent = failures[-REPEATS:]
    if len(recent) < REPEATS:
        return None
    signatures = [signature(attempt) for attempt in recent]
    if not signatures[0] or len(set(signatures)) > 1:
        return None
    times = len(_equal_tail([signature(attempt) for attempt in failures]))
    changed = (
        "without any change" if all(a.changed is False for a in recent[1:]) else "although the code changed"
    )
    lines = (f"the same failures {times} times in a row, {changed}", *recent[-1].reading.error_lines[:2])
    return Evidence(FailureMode.INFINITE_LOOP, SAME_FAILURE, lines)


def _idles(failures: Sequence[Attempt]) -> Evidence | None:
    """Nothing was changed again and again, whatever the log could tell."""
    recent = failures[-REPEATS:]
    if len(recent) < REPEATS or not all(_unchanged(one, other) for one, other in pairwise(recent)):
        return None
    return Evidence(FailureMode.INFINITE_LOOP, CIRCLE, (f"{REPEATS} red gates in a row without any change",))


def _unchanged(before: Attempt, after: Attempt) -> bool:
    if before.tree and after.tree:
        return before.tree == after.tree
    return after.changed is False


def _circles(failures: Sequence[Attempt]) -> Evidence | None:
    """A-B-A-B, or a longer cycle walked twice, of failures or of trees."""
    if len(failures) < 2 * SHORTEST_CYCLE:
        return None
    for name, states in (
        ("failures return", [signature(attempt) for attempt in failures]),
        ("code returns to trees that failed before", [attempt.tree or "" for attempt in failures]),
        ("same edits return", [attempt.diff for attempt in failures]),
    ):
        for period in range(SHORTEST_CYCLE, LONGEST_CYCLE + 1):
            if _cycle(states, period):
                line = f"the {name}: a cycle of {period}, walked twice in the last {2 * period} attempts"
                return Evidence(FailureMode.INFINITE_LOOP, CIRCLE, (line,))
    return None


def _cycle(states: Sequence[Hashable], period: int) -> bool:
    tail = states[-2 * period :]
    return len(tail) == 2 * period and all(tail) and tail[:period] == tail[period:] and len(set(tail)) > 1


def _same_tests(failures: Sequence[Attempt]) -> Evidence | None:
    """Not one test fewer for long, and nothing new to learn from their errors."""
    recent = failures[-SAME_TESTS_REPEATS:]
    if len(recent) < SAME_TESTS_REPEATS:
        return None
    tests = {failing_tests(attempt) for attempt in recent}
    types = {tuple(sorted({f.type or "" for f in attempt.reading.findings})) for attempt in recent}
    if len(tests) > 1 or len(types) > 1 or not next(iter(tests)):
        return None
    line = f"the same tests failed {len(recent)} times in a row with the same kind of error"
    return Evidence(FailureMode.INFINITE_LOOP, SAME_TESTS, (line,))


def _equal_tail(states: Sequence[Hashable]) -> Sequence[Hashable]:
    start = len(states) - 1
    while start > 0 and states[start - 1] == states[-1]:
        start -= 1
    return states[start:]
