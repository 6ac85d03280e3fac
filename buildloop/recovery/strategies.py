"""What is done about each failure mode: a table. The ladder for a loop that stays stuck is in `ladder.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildloop.diagnosis.model import FailureMode
from buildloop.models import Strategy

STRATEGIES: Mapping[FailureMode, Strategy] = {
    FailureMode.CONTEXT_EXHAUSTION: Strategy(
        mode=FailureMode.CONTEXT_EXHAUSTION,
        action="restart_compressed",
        args=("--max-restarts", "+2"),
        description="Start a new session from a compressed summary, with two more restarts allowed",
    ),
    FailureMode.INFINITE_LOOP: Strategy(
        mode=FailureMode.INFINITE_LOOP,
        action="reduce_and_redirect",
        args=("--max-iterations", "10"),
        description="Cut the remaining iterations, go back to the best tree, forbid what was tried",
        max_retries_override=0,
    ),
    FailureMode.TEST_FLAKINESS: Strategy(
        mode=FailureMode.TEST_FLAKINESS,
        action="rerun_tests",
        args=("--max-iterations", "3"),
        description="Rerun the tests on the unchanged tree, without the agent",
        max_retries_override=3,
    ),
    FailureMode.DEPENDENCY_ISSUE: Strategy(
        mode=FailureMode.DEPENDENCY_ISSUE,
        action="reinstall_deps",
        args=("--max-iterations", "5"),
        description="Install the dependencies from the lock file or manifest, then run the gate again",
    ),
    FailureMode.CODE_ERROR: Strategy(
        mode=FailureMode.CODE_ERROR,
        action="standard_retry",
        description="Give the agent the findings and let it try again",
    ),
}

# Modes whose own strategy cannot end a loop: what repeats in spite of it is treated as being stuck.
ESCALATING = frozenset({FailureMode.DEPENDENCY_ISSUE})


def strategy_for(mode: FailureMode, *, repeats: bool = False, returned: bool = False) -> Strategy:
    """`repeats`: the same failure was red again and again although this was done about it. `returned`: the agent has
    made the very code again that it was forbidden; no second look is needed."""
    stuck = (repeats and mode in ESCALATING) or (returned and mode in {*ESCALATING, FailureMode.CODE_ERROR})
    return STRATEGIES[FailureMode.INFINITE_LOOP if stuck else mode]


def get_recovery_strategy(mode: str) -> dict[str, Any]:
    """The strategy as the JSON object the design documents describe; an unknown mode retries plainly."""
    known = mode in FailureMode.__members__.values()
    strategy = STRATEGIES[FailureMode(mode) if known else FailureMode.CODE_ERROR]
    return strategy.model_dump(mode="json")
