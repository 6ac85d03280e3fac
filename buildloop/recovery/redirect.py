"""Tells a stuck agent what was tried, what came of it, and that it must not be repeated."""

from __future__ import annotations

from buildloop.diagnosis.fingerprint import fingerprint_reading
from buildloop.models import Iteration, LadderStep
from buildloop.recovery.ladder import ORDERS
from buildloop.state import LoopState

TRIED_SHOWN = 8
SAID_CHARS = 160


def redirect_note(state: LoopState, step: LadderStep) -> str:
    """What the agent is told at this step of the ladder."""
    tried = [_tried(one) for one in _undone(state)][-TRIED_SHOWN:]
    back = "The workspace was put back to the best state so far; these changes are gone from it."
    return "\n".join([ORDERS[step], *tried, "", back])


def _undone(state: LoopState) -> list[Iteration]:
    """The iterations after the best one that ended in the failure we are stuck at: what they did is gone."""
    wanted, best = fingerprint_reading(state.last.gate.reading), state.best.number
    later = [one for one in state.iterations if one.agent and one.number > best]
    return [one for one in later if fingerprint_reading(one.gate.reading) == wanted]


def _tried(one: Iteration) -> str:
    assert one.agent is not None
    point = one.agent.checkpoint
    files = ", ".join(point.files[:5]) or "nothing"
    said = " ".join(one.agent.reply.text.split())[:SAID_CHARS]
    described = f' ("{said}")' if said else ""
    outcome = f"gate stayed {one.gate.in_words}"
    return f"- FORBIDDEN (iteration {one.number}): changing {files} as before{described}; {outcome}"
