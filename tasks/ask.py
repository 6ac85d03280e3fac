"""Asks a person: a flow run of a deployment is suspended with a form, any other waits for `buildloop tell`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

from prefect import suspend_flow_run
from prefect.input import RunInput
from prefect.runtime import deployment, flow_run
from pydantic import Field

from buildloop.cancel import check_stop
from buildloop.people.answer import Answer, read_answer, waiting_question, write_answer
from buildloop.people.hints import LONGEST_HINT, give
from buildloop.rundir import RunDir

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


def answer_of_a_person(run: RunDir, number: int, question: str) -> Answer:
    """The answer to the run's question `number`. One that was given is kept: a later flow run does not ask again."""
    known = read_answer(run.path, number)
    if known is None:
        if waiting_question(run) != number:  # a resumed flow run comes here with the question still open
            run.events.emit("loop.waiting_for_person", number=number, question=question, url=flow_run.ui_url)
        known = _suspended(run, number, question) if deployment.id else _waited_for(run.path, number)
        write_answer(run.path, number, known)
    if known.hint.strip():
        give(run.path, known.hint, "a person", f"answer-{number}")
    run.events.emit("loop.answered", number=number, choice=known.choice)
    return known


def _suspended(run: RunDir, number: int, question: str) -> Answer:
    """Ends this process; resumed, another one comes here again and is given the answer."""
    form = Decision.with_initial_data(description=question)
    given = suspend_flow_run(wait_for_input=form, key=f"{run.run_id}-{number}")
    fields = given.model_dump()
    return Answer.model_validate({name: fields[name] for name in Answer.model_fields})


def _waited_for(run_dir: Path, number: int) -> Answer:
    while True:
        check_stop()
        if (given := read_answer(run_dir, number)) is not None:
            return given
        time.sleep(POLL_SECONDS)
