"""Asks a person: a flow run of a deployment is suspended with a form, any other waits for `buildloop tell`."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Literal

from prefect import suspend_flow_run
from prefect.input import RunInput
from prefect.runtime import deployment, flow_run
from prefect.settings import PREFECT_API_URL
from pydantic import Field

from buildloop.cancel import check_stop
from buildloop.decide import Stop
from buildloop.people.answer import Answer, read_answer, write_answer
from buildloop.people.asked import Asked, open_question, question, question_key
from buildloop.people.granted import GRANTED_FILE, after, granted_in
from buildloop.people.hints import LONGEST_HINT, give
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from buildloop.stopwatch import not_counted, save_stopwatch
from tasks.bucket import keep

POLL_SECONDS = 0.5


class Decision(RunInput):
    """The form in the Prefect UI."""

    choice: Literal["continue", "accept", "stop"] = Field(
        "continue",
        title="What now",
        description="continue: go on with the hint and limits below; accept: take the work as the last "
        "iteration left it; stop: end the run.",
        json_schema_extra={"position": 0},
    )
    hint: str = Field(
        "",
        title="Hint for the agent",
        description="Shown to it once, in a section of its own of the next prompt.",
        max_length=LONGEST_HINT,
        json_schema_extra={"position": 1},
    )
    more_iterations: int = Field(
        5,
        title="More iterations",
        description="How many more it may use.",
        ge=0,
        le=1000,
        json_schema_extra={"position": 2},
    )
    more_usd: float = Field(
        0,
        title="More dollars",
        description="Added to the budget, if it has one.",
        ge=0,
        json_schema_extra={"position": 3},
    )
    more_minutes: float = Field(
        0,
        title="More minutes",
        description="Added to the time budget, if it has one.",
        ge=0,
        json_schema_extra={"position": 4},
    )
    more_tokens: int = Field(
        0,
        title="More tokens",
        description="Added to the budget of tokens, if it has one.",
        ge=0,
        json_schema_extra={"position": 5},
    )


def answer_of_a_person(state: LoopState, stop: Stop) -> Answer:
    """What to do with a run that would end. One answer is kept: a later flow run does not ask again."""
    run, key = RunDir(state.request.run_dir), question_key(state, stop)
    known, asked = read_answer(run.path, key), open_question(run)
    own = flow_run.id if deployment.id else None
    if known is None:
        # A resumed flow run comes here with its question still open; that of another cannot be answered to this one.
        if asked is None or (asked.key, asked.flow_run) != (key, own):
            asked = _ask(run, key, state, stop, own)
        save_stopwatch(run.path)
        keep(state.request, state.workspace)
        known = (
            _suspended(run, asked, question(state, stop)) if asked.flow_run else _waited_for(run.path, key)
        )
        write_answer(run.path, key, known)
    if known.hint.strip():
        give(run.path, known.hint, "a person", f"answer-{key}")
    if asked is not None and asked.key == key:  # on a replay it may be a later question that is open
        run.events.emit("loop.answered", key=key, choice=known.choice)
    return known


def go_on_with(state: LoopState, stop: Stop, answer: Answer) -> LoopState:
    """What was granted is written down as limits: whichever way the run comes here again, they hold."""
    raised = after(state, stop.reason, answer)
    RunDir(state.request.run_dir).save(GRANTED_FILE, granted_in(raised))
    return replace(
        raised,
        asked=(*state.asked, question_key(state, stop)),
        granted_iterations=raised.max_iterations,
    )


def _ask(run: RunDir, key: str, state: LoopState, stop: Stop, own: str | None) -> Asked:
    asked = Asked(
        key=key,
        reason=stop.reason,
        token=token_hex(4),
        flow_run=own,
        api=PREFECT_API_URL.value(),
    )
    run.events.emit(
        "loop.waiting_for_person",
        key=asked.key,
        reason=asked.reason,
        token=asked.token,
        flow_run=asked.flow_run,
        api=asked.api,
        question=question(state, stop),
        url=flow_run.ui_url,
    )
    return asked


def _suspended(run: RunDir, asked: Asked, text: str) -> Answer:
    """Ends this process; resumed, another one comes here again and is given the answer."""
    form = Decision.with_initial_data(description=text)
    given = suspend_flow_run(wait_for_input=form, key=f"{run.run_id}-{asked.token}")
    fields = given.model_dump()
    return Answer.model_validate({name: fields[name] for name in Answer.model_fields})


def _waited_for(run_dir: Path, key: str) -> Answer:
    with not_counted(run_dir):
        while True:
            check_stop()
            if (given := read_answer(run_dir, key)) is not None:
                return given
            time.sleep(POLL_SECONDS)
