"""When a run asks a person, what it asks, and which question is open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from buildloop.decide import Stop
from buildloop.events import read_events
from buildloop.models import Frozen
from buildloop.report.question import question_for
from buildloop.result import StopReason
from buildloop.rundir import RunDir
from buildloop.state import LoopState

# Where another decision than "stop" can help. What cannot start at all is not asked about.
WORTH_ASKING = frozenset(
    {
        StopReason.STUCK,
        StopReason.MAX_ITERATIONS,
        StopReason.MAX_RESTARTS,
        StopReason.BUDGET,
        StopReason.AGENT_REFUSED,
    }
)
# The run has gone on, or has ended: whatever it asked before is not open any more.
CLOSING = frozenset({"loop.answered", "loop.completed", "loop.iteration_start"})


class Asked(Frozen):
    """A question as the run has asked it. `token` tells it from the same question asked again later; `flow_run` is
    the suspended flow run that waits for the answer on the Prefect server `api`, if one does."""

    key: str
    reason: StopReason
    token: str
    flow_run: str | None = None
    api: str | None = None


def asks(state: LoopState, stop: Stop) -> bool:
    return state.request.human and stop.reason in WORTH_ASKING and bool(state.iterations)


def question_key(state: LoopState, stop: Stop) -> str:
    """Which question it is: where the run stood and why it would end, so that no other can be taken for it. One that
    comes up again at the same place, because the answer has changed nothing, is a new question."""
    place = f"{state.number}-{stop.reason}"
    times = sum(1 for key in state.asked if key == place or key.startswith(f"{place}-")) + 1
    return place if times == 1 else f"{place}-{times}"


def question(state: LoopState, stop: Stop) -> str:
    tampering = "\n".join(f"- {one.text}" for one in state.last.gate.tampering)
    objected = f"\n\nThe integrity check objects to:\n{tampering}" if tampering else ""
    return f"**{stop.explanation}**{objected}\n\n{question_for(state)}"


def open_question(run: RunDir) -> Asked | None:
    """The question the run waits with; None if it does not wait."""
    asked = None
    for event in read_events(run.events.path):
        if event["type"] == "loop.waiting_for_person":
            asked = _read(event)
        elif event["type"] in CLOSING:
            asked = None
    return asked


def _read(event: Mapping[str, Any]) -> Asked | None:
    try:
        return Asked.model_validate({name: event.get(name) for name in Asked.model_fields})
    except ValidationError:
        return None
