"""What a parser hands back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from buildloop.diagnosis.model import Finding, TestCounts

Lines = Sequence[str]


class Rank(IntEnum):
    """How close a finding is to the cause. Lower is shown first."""

    AGENT = -1  # the agent itself gave up
    CAUSE = 0  # the tool says what is wrong
    TRACE = 1  # a stack trace that no test runner claimed
    HINT = 2  # a line that looks like trouble, or a runner's note about a failure
    WEAK = 3  # a line that may or may not be trouble
    CASCADE = 4  # a consequence: `make: *** Error 1`


@dataclass(frozen=True, slots=True)
class Sighting:
    """A finding and the lines [at, until) of the log that it explains: no other parser needs to."""

    finding: Finding
    at: int
    until: int
    rank: Rank = Rank.CAUSE


@dataclass(frozen=True, slots=True)
class ToolReport:
    """Everything one tool said in a log."""

    sightings: tuple[Sighting, ...] = ()
    counts: TestCounts | None = None
    failing: tuple[str, ...] = ()


def added(counts: Sequence[TestCounts]) -> TestCounts | None:
    """Several summaries of one log: a runner prints one per package, crate or module."""
    if not counts:
        return None
    return TestCounts(
        sum(c.run for c in counts),
        sum(c.passed for c in counts),
        sum(c.failed for c in counts),
        sum(c.skipped for c in counts),
    )


def tally(passed: int, failed: int, skipped: int = 0) -> TestCounts:
    return TestCounts(passed + failed, passed, failed, skipped)


def unique(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))


def blocks(
    lines: Lines, begins: Callable[[str], object], ends: Callable[[str], object]
) -> Iterator[tuple[int, int]]:
    """[start, end) of each block: from a line that begins one to the next that does, or that ends it, or the last."""
    start = -1
    for index, line in enumerate(lines):
        head = begins(line)
        if start >= 0 and (head or ends(line)):
            yield start, index
            start = -1
        if head:
            start = index
    if start >= 0:
        yield start, len(lines)
