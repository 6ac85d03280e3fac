"""Whether an agent does again what it was told not to repeat."""

from __future__ import annotations

from buildloop.models import Iteration
from buildloop.state import LoopState


def returns_to_red_tree(state: LoopState, iteration: Iteration) -> bool:
    """Whether the agent, told what must not be repeated, has made a tree again that was red before it was told."""
    told = state.tally.went_back
    if told is None or iteration.agent is None or not iteration.agent.checkpoint.changed:
        return False
    red = {one.gate.tree for one in state.iterations[1:] if not one.gate.passed and one.number <= told}
    return iteration.gate.tree in red
