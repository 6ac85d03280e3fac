"""What changed from gate to gate: which iteration brought a failure in, and whether a recovery helped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from buildloop.diagnosis.fingerprint import fingerprint
from buildloop.fold import Fold
from buildloop.models import GateReport, Iteration, Remedy, Verdict


class Effect(StrEnum):
    """What the gate said after a recovery, compared with before. Unknown: there was no gate after it."""

    SOLVED = "solved"
    BETTER = "better"
    SAME = "same"
    WORSE = "worse"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RecoveryEffect:
    iteration: int
    remedy: Remedy
    effect: Effect


def badness(report: GateReport) -> tuple[bool, bool, int]:
    """A gate that gave no answer, was tampered with, or in which nothing passed names few failures but is not better
    for it."""
    tampered = any(one.blocks for one in report.tampering)
    unanswered = tampered or report.verdict not in (Verdict.PASSED, Verdict.FAILED)
    counts = report.reading.counts
    return unanswered, not report.passed and (counts is None or counts.passed == 0), report.failing_count


def failures_of(report: GateReport) -> frozenset[str]:
    """The names of what fails: tests, or where no test is named the fingerprints of the findings."""
    if report.passed:
        return frozenset()
    return frozenset(report.reading.failing or (fingerprint(one) for one in report.reading.findings))


def introduced_by(iterations: Sequence[Iteration]) -> dict[str, int]:
    """For each failure of the last gate the iteration since which it is there; 0 means: from the start."""
    since = _since(tuple(iterations))
    return {name: since[name] for name in since if name in failures_of(iterations[-1].gate)}


def _since_after(
    since: Mapping[str, int], iterations: tuple[Iteration, ...], place: int
) -> Mapping[str, int]:
    """Where nothing passed, a test that is not named may just not have been reached: it is not taken for mended."""
    one = iterations[place]
    unanswered, nothing_passed, _ = badness(one.gate)
    now = {name: since.get(name, one.number) for name in failures_of(one.gate)}
    return {**since, **now} if unanswered or nothing_passed else now


_since: Fold[Iteration, Mapping[str, int]] = Fold(dict, _since_after)


def recovery_effects(iterations: Sequence[Iteration]) -> list[RecoveryEffect]:
    """Every recovery of the run with what came of it. Those that need no agent are judged by the next gate on the
    same tree, the others by the next iteration."""
    found: list[RecoveryEffect] = []
    for index, one in enumerate(iterations):
        following = iterations[index + 1] if index + 1 < len(iterations) else None
        found += [
            RecoveryEffect(one.number, remedy, compare(before, after))
            for remedy, before, after in _around(one, following)
        ]
    return found


def compare(before: GateReport, after: GateReport | None) -> Effect:
    if after is None:
        return Effect.UNKNOWN
    if after.passed:
        return Effect.SOLVED
    old, new = badness(before), badness(after)
    return Effect.BETTER if new < old else Effect.WORSE if new > old else Effect.SAME


def _around(
    one: Iteration, following: Iteration | None
) -> Iterator[tuple[Remedy, GateReport, GateReport | None]]:
    """Each remedy of an iteration with the red gate before it and the gate after it, if there was one."""
    own_reds = [report for report in one.reports if not report.passed]
    for place, remedy in enumerate(one.remedies):
        is_last = place == len(one.remedies) - 1
        before = own_reds[min(place, len(own_reds) - 1)] if own_reds else one.gate
        if not is_last or (remedy.recovery.helped and one.gate is not before):
            yield remedy, before, one.reports[-1] if is_last else own_reds[min(place + 1, len(own_reds) - 1)]
        else:
            yield remedy, one.gate, following.gate if following else None
