"""What comes next for a loop that stays stuck. A step is never repeated for the same failure in one run."""

from __future__ import annotations

from collections.abc import Mapping

from buildloop.models import LadderStep
from buildloop.state import LoopState

ORDERS: Mapping[LadderStep, str] = {
    LadderStep.OTHER_APPROACH: "Take a different approach. What was tried before did not work and must not be "
    "repeated:",
    LadderStep.DECOMPOSE: "Decompose the problem: make the smallest failing piece pass first, then the next. "
    "Still forbidden:",
    LadderStep.NEXT_AGENT: "You take over from another agent that could not solve this. Look at it with fresh "
    "eyes. What it tried did not work and must not be repeated:",
    LadderStep.ASK_A_PERSON: "A person has to decide how to go on. Still forbidden:",
}
ALONE = (LadderStep.OTHER_APPROACH, LadderStep.DECOMPOSE)


def step_when_stuck(state: LoopState, fingerprint: str) -> LadderStep:
    """`state` ends with the red gate that shows the loop is stuck at `fingerprint`."""
    used = _used(state, fingerprint)
    for step in ALONE:
        if step not in used:
            return step
    return LadderStep.NEXT_AGENT if _another_agent(state) else LadderStep.ASK_A_PERSON


def upgrade_is_due(state: LoopState, fingerprint: str) -> bool:
    """Whether a stronger model of the same agent is there, and the present one has failed at this failure."""
    if not _another_agent(state):
        return False
    now, following = state.request.agents[state.rung], state.request.agents[state.rung + 1]
    failed = any(
        remedy.fingerprint == fingerprint and one.agent is not None and one.agent.reply.rung == state.rung
        for one in state.iterations[:-1]
        for remedy in one.remedies
    )
    return failed and following.agent == now.agent


def _another_agent(state: LoopState) -> bool:
    return state.rung + 1 < len(state.request.agents)


def _used(state: LoopState, fingerprint: str) -> set[LadderStep]:
    """Steps taken for this failure, or for any other since there was last any progress."""
    return {
        remedy.recovery.step
        for one in state.iterations
        for remedy in one.remedies
        if remedy.recovery.step is not None
        and (remedy.fingerprint == fingerprint or one.number >= state.best.number)
    }
