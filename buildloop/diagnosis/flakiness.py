"""Flaky: the same code gave another outcome. Words about time prove nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from buildloop.diagnosis.cause import causes
from buildloop.diagnosis.evidence import Evidence
from buildloop.diagnosis.history import code_versions, failing_tests, signature
from buildloop.diagnosis.model import Attempt, FailureMode, LogReading, SignalKind

ALTERNATIONS = 2
SAME_CODE, SHOWN_IN_LOG, KNOWN_FLAKY, PORT_TAKEN = 0.95, 0.9, 0.7, 0.85


def detect_test_flakiness(history: Sequence[Attempt]) -> Evidence | None:
    last = history[-1]
    return (
        _same_code(history)
        or _shown_in_log(last.reading)
        or _known_flaky(history)
        or _comes_and_goes(history)
    )


def _same_code(history: Sequence[Attempt]) -> Evidence | None:
    """The code under the last attempt also passed, or failed in other tests."""
    versions = code_versions(history)
    same = [index for index, version in enumerate(versions[:-1]) if version == versions[-1]]
    for index in reversed(same):
        if differs := _different_outcome(history[index], history[-1]):
            tree = f" (tree {history[-1].tree[:12]})" if history[-1].tree else ""
            line = (
                f"attempt {index + 1} {differs}; attempt {len(history)} judged the same code{tree} and failed"
            )
            return Evidence(FailureMode.TEST_FLAKINESS, SAME_CODE, (line, *_named(history[-1])))
    return None


def _different_outcome(earlier: Attempt, last: Attempt) -> str:
    if earlier.passed:
        return "passed"
    before, now = failing_tests(earlier), failing_tests(last)
    if before and now and before != now:
        return f"failed in other tests ({', '.join(sorted(before ^ now)[:3])})"
    if _placed(earlier) and _placed(last) and signature(earlier) != signature(last):
        return "failed in another way"
    return ""


def _placed(attempt: Attempt) -> bool:
    """Whether its failures belong to tests or places: the last words of the killed differ every time."""
    return any(finding.test or finding.file for finding in attempt.reading.findings)


def _shown_in_log(reading: LogReading) -> Evidence | None:
    mixed = [signal.line for signal in reading.signals if signal.kind is SignalKind.MIXED_OUTCOME]
    if mixed:
        return Evidence(
            FailureMode.TEST_FLAKINESS,
            SHOWN_IN_LOG,
            ("the log shows the same code passing and failing", *mixed[:3]),
        )
    taken = [signal.line for signal in causes(reading, SignalKind.PORT_TAKEN)]
    if taken:
        return Evidence(
            FailureMode.TEST_FLAKINESS, PORT_TAKEN, ("another process holds the address", *taken[:2])
        )
    return None


def _known_flaky(history: Sequence[Attempt]) -> Evidence | None:
    """Every test that fails now has already changed its outcome on unchanged code in this history."""
    unsteady = _unsteady_tests(history[:-1])
    now = failing_tests(history[-1]) if unsteady else frozenset[str]()
    if not now or not now <= unsteady:
        return None
    line = f"{', '.join(sorted(now)[:3])} passed and failed on the same code earlier in this run"
    return Evidence(FailureMode.TEST_FLAKINESS, KNOWN_FLAKY, (line,))


def _comes_and_goes(history: Sequence[Attempt]) -> Evidence | None:
    """Where nobody recorded what changed: the same failure before and after a green gate."""
    if any(attempt.tree or attempt.changed is not None or attempt.diff for attempt in history):
        return None
    turns = sum(one.passed != other.passed for one, other in pairwise(history))
    if turns < ALTERNATIONS:
        return None
    failures = {signature(attempt) for attempt in history if not attempt.passed}
    if len(failures) > 1 or not next(iter(failures)):
        return None
    line = f"the same failure came and went: the outcome turned {turns} times in {len(history)} attempts"
    return Evidence(FailureMode.TEST_FLAKINESS, KNOWN_FLAKY, (line, *_named(history[-1])))


def _unsteady_tests(history: Sequence[Attempt]) -> frozenset[str]:
    outcomes: dict[int, list[frozenset[str]]] = {}
    for version, attempt in zip(code_versions(history), history, strict=True):
        if attempt.passed or failing_tests(attempt):
            outcomes.setdefault(version, []).append(frozenset() if attempt.passed else failing_tests(attempt))
    unsteady: set[str] = set()
    for failing in outcomes.values():
        unsteady |= frozenset.union(*failing) - frozenset.intersection(*failing)
    return frozenset(unsteady)


def _named(attempt: Attempt) -> tuple[str, ...]:
    return tuple(attempt.reading.failing[:3]) or tuple(attempt.reading.error_lines[:2])
