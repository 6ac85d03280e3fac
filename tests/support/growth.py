"""How the cost of work grows with its input: a ratio of processor times, so that no machine is too slow for it."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

FACTOR = 8
# Linear work takes 8 times as long for 8 times the text, quadratic work 64 times.
MOST = 4 * FACTOR
# Below this a clock tells nothing.
MEASURABLE = 0.001


def grows_linearly(work: Callable[[str], object], text: Callable[[int], str], size: int) -> bool:
    small, large = (_seconds(work, text(length)) for length in (size, FACTOR * size))
    return large <= MOST * max(small, MEASURABLE)


def _seconds(work: Callable[[str], object], text: str) -> float:
    """The least of a few: whatever else the machine does can only add."""

    def once() -> float:
        started = process_time()
        work(text)
        return process_time() - started

    return min(once() for _ in range(2))
