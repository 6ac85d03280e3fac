"""Whether a suggestion earns its place: failures that got it must turn green more often than those that did not."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log

from buildloop.memory.model import Record

# Fewer trials than this prove nothing, on either side of the comparison.
LEAST_TRIALS = 3
# To raise the fix rate by less than this is not to raise it.
NOTICEABLE = 0.05
# A suggestion goes when the chance that it helps noticeably is smaller than this: three failures and no success are
# enough where nothing else is known (1 / 16), one failure among four is not.
LEAST_CHANCE = 0.07
STEPS = 400


def fades(own: Record, overall: Record) -> bool:
    """Whether there is evidence that it does not help. Rates of few and of many trials are not compared as numbers
    but as what may be believed of them, and a record without a failure is no evidence against anything.

    `overall` is the record of all failures of the class, those that got the suggestion included."""
    if own.tried < LEAST_TRIALS or own.worked == own.tried:
        return False
    others = overall.without(own)
    if others.tried < LEAST_TRIALS:
        return _chance_above_half(own) < LEAST_CHANCE
    return chance_to_help(own, others) < LEAST_CHANCE


@lru_cache(maxsize=4096)
def chance_to_help(own: Record, others: Record) -> float:
    """P(own rate > others' rate + NOTICEABLE), both rates Beta(1 + worked, 1 + failed)."""
    margin = round(NOTICEABLE * STEPS)
    theirs, below, chance = _density(others), 0.0, 0.0
    for place, mine in enumerate(_density(own)):
        if place >= margin:
            # Of the step where both may be, half is below.
            chance += mine * (below + theirs[place - margin] / 2)
            below += theirs[place - margin]
    return chance


def _chance_above_half(own: Record) -> float:
    return sum(_density(own)[STEPS // 2 :])


def _density(record: Record) -> list[float]:
    """How much of the belief in a rate lies in each of the steps from 0 to 1."""
    worked, failed = record.worked, record.tried - record.worked
    scale = lgamma(worked + failed + 2) - lgamma(worked + 1) - lgamma(failed + 1)
    middles = ((step + 0.5) / STEPS for step in range(STEPS))
    heights = [exp(scale + worked * log(rate) + failed * log(1 - rate)) for rate in middles]
    total = sum(heights)
    return [height / total for height in heights]
