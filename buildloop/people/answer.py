"""What a run asks a person for, and what follows from the answer."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from pydantic import Field, ValidationError

from buildloop.decide import Stop
from buildloop.events import read_events
from buildloop.files import write_atomic
from buildloop.models import Frozen
from buildloop.people.hints import LONGEST_HINT
from buildloop.report.question import question_for
from buildloop.request import RESTART_CAP
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


class Choice(StrEnum):
    CONTINUE = "continue"
    ACCEPT = "accept"
    STOP = "stop"


class Answer(Frozen):
    """A person's decision about a run that would end."""

    choice: Choice = Choice.CONTINUE
    hint: str = Field("", max_length=LONGEST_HINT)
    more_iterations: int = Field(5, ge=0, le=1000)
    more_usd: float = Field(0, ge=0)
    more_minutes: float = Field(0, ge=0)


def asks(state: LoopState, stop: Stop) -> bool:
    return state.request.human and stop.reason in WORTH_ASKING and bool(state.iterations)


def question(state: LoopState, stop: Stop) -> str:
    tampering = "\n".join(f"- {one.text}" for one in state.last.gate.tampering)
    objected = f"\n\nThe integrity check objects to:\n{tampering}" if tampering else ""
    return f"**{stop.explanation}**{objected}\n\n{question_for(state)}"


def after(state: LoopState, answer: Answer) -> LoopState:
    """Where the run stands when it goes on: more of what was used up, and the ladder not held against it again."""
    request = state.request
    raised = {
        "budget_usd": request.budget_usd + answer.more_usd if request.budget_usd is not None else None,
        "budget_minutes": request.budget_minutes + answer.more_minutes
        if request.budget_minutes is not None
        else None,
    }
    return replace(
        state,
        request=request.model_copy(update=raised),
        max_iterations=max(state.max_iterations, state.number + max(1, answer.more_iterations)),
        max_restarts=min(RESTART_CAP, state.max_restarts + 1) if request.max_restarts else 0,
        answers=state.answers + 1,
        answered_at=state.number,
    )


def waiting_question(run: RunDir) -> int | None:
    """The number of the question the run waits with; None if it does not wait."""
    asked = None
    for event in read_events(run.path / "events.jsonl"):
        if event["type"] == "loop.waiting_for_person":
            asked = int(event["number"])
        elif event["type"] in ("loop.answered", "loop.completed"):
            asked = None
    return asked


def read_answer(run_dir: Path, number: int) -> Answer | None:
    """None where there is no answer, or one that cannot be read: then the question is still open."""
    try:
        return Answer.model_validate_json(_path(run_dir, number).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def write_answer(run_dir: Path, number: int, answer: Answer) -> None:
    """The first answer to a question is the answer: a run that has gone on with it is not told another."""
    if read_answer(run_dir, number) is None:
        write_atomic(_path(run_dir, number), answer.model_dump_json(indent=2) + "\n")


def _path(run_dir: Path, number: int) -> Path:
    return run_dir / "answers" / f"{number}.json"
