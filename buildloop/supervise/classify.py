"""Why a run failed, on two levels: the broad class from structured outcomes, then the mode where that says more.

Nothing here reads prose: a test named `test_login_401` must not look like a credentials problem.
"""

from __future__ import annotations

from collections.abc import Mapping

from buildloop.diagnosis.model import FailureMode
from buildloop.result import StopReason
from buildloop.supervise.model import BroadClass, Ending

# What ends well is not here.
BY_REASON: Mapping[StopReason, BroadClass] = {
    StopReason.AGENT_REFUSED: BroadClass.AUTH,
    StopReason.AGENT_UNAVAILABLE: BroadClass.TRANSIENT,
    StopReason.GATE_COULD_NOT_RUN: BroadClass.INVALID,
    StopReason.MAX_RESTARTS: BroadClass.CONTEXT,
    StopReason.MAX_ITERATIONS: BroadClass.BUILD,
    StopReason.STUCK: BroadClass.BUILD,
    StopReason.BUDGET: BroadClass.BUILD,
    StopReason.CANCELLED: BroadClass.CANCELLED,
}
# States of flow runs that came to no result of their own.
BY_STATE: Mapping[str, BroadClass] = {
    "InvalidRequest": BroadClass.INVALID,
    "RunLocked": BroadClass.TRANSIENT,
    "Crashed": BroadClass.TRANSIENT,
    "TimedOut": BroadClass.TRANSIENT,
    "Cancelled": BroadClass.CANCELLED,
    # It took every process with it that worked on it; another run of the same would do so too.
    "CrashedTooOften": BroadClass.INVALID,
}
# How often a failure of this class is worth another run.
MOST_RETRIES: Mapping[BroadClass, int] = {
    BroadClass.AUTH: 0,
    BroadClass.TRANSIENT: 4,
    BroadClass.INVALID: 0,
    BroadClass.CONTEXT: 2,
    BroadClass.BUILD: 2,
    BroadClass.CANCELLED: 0,
    BroadClass.UNKNOWN: 2,
}
GRANULAR = frozenset({BroadClass.BUILD, BroadClass.CONTEXT})


def broad_class(ending: Ending) -> BroadClass:
    """A flow run that crashed says more than the result an earlier one left behind."""
    if ending.state in BY_STATE:
        return BY_STATE[ending.state]
    if ending.reason is None:
        return BroadClass.UNKNOWN
    return BY_REASON.get(ending.reason, BroadClass.UNKNOWN)


def granular_mode(ending: Ending) -> FailureMode | None:
    """The second level, only where it can tell something: a failed build, a full context."""
    return ending.mode if broad_class(ending) in GRANULAR else None
