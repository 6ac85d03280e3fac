"""Whether a suggestion earns its place: failures that got it must turn green more often than those that did not."""

from __future__ import annotations

from buildloop.memory.model import Record

# Fewer trials than this prove nothing, on either side of the comparison.
LEAST_TRIALS = 3


def fades(own: Record, overall: Record) -> bool:
    """`overall` is the record of all failures of the class, those that got the suggestion included."""
    others = overall.without(own)
    if own.tried < LEAST_TRIALS:
        return False
    if others.tried < LEAST_TRIALS:
        return own.estimate < Record().estimate
    return own.estimate <= others.estimate
