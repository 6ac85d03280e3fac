"""How the cost of work grows with its input: a ratio of processor times, so that no machine is too slow for it."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

FACTOR = 8
# Linear work takes 8 times as long for 8 times the text, quadratic work 64 times.
MOST = 4 * FACTOR
# Below this a clock tells nothing.
MEASURABLE = 0.001
# Whatever else the machine does can spoil one measurement, hardly all of them.
TRIES = 3

Work = Callable[[str], object]


def grows_linearly(work: Work, text: Callable[[int], str], size: int) -> bool:
    small, large = text(size), text(FACTOR * size)
    return any(_seconds(work, large) <= MOST * max(_seconds(work, small), MEASURABLE) for _ in range(TRIES))


def _seconds(work: Work, text: str) -> float:
    started = process_time()
    work(text)
    return process_time() - started
