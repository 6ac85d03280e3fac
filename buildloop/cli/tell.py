"""`buildloop tell`: guidance for the next iteration of a run, and the answer to one that asks."""

from __future__ import annotations

import getpass
from pathlib import Path

from buildloop.cli.output import console
from buildloop.cli.paths import state_folder
from buildloop.errors import InputError
from buildloop.people.answer import Answer, Choice, waiting_question, write_answer
from buildloop.people.hints import LONGEST_HINT, give
from buildloop.rundir import RunDir, find_run


def tell_run(
    run_id: str,
    hint: str | None,
    state_dir: Path | None,
    *,
    accept: bool = False,
    stop: bool = False,
    more_iterations: int = 5,
    more_usd: float = 0.0,
) -> None:
    run = find_run(state_folder(state_dir), run_id)
    text = (hint or "").strip()
    if accept and stop:
        raise InputError("--accept and --stop exclude each other; choose one")
    if not (text or accept or stop):
        raise InputError("there is nothing to tell; give a hint in quotes, --accept or --stop")
    if len(text) > LONGEST_HINT:
        raise InputError(f"the hint has {len(text)} characters; keep it under {LONGEST_HINT}")
    asked = waiting_question(run)
    if asked is None and (accept or stop):
        raise InputError(f"run {run.run_id} asks nothing; end it with 'buildloop cancel {run.run_id}'")
    if asked is None:
        console().print(_hinted(run, text), markup=False)
        return
    choice = Choice.ACCEPT if accept else Choice.STOP if stop else Choice.CONTINUE
    answer = Answer(choice=choice, hint=text, more_iterations=more_iterations, more_usd=more_usd)
    write_answer(run.path, asked, answer)
    console().print(_answered(run, choice), markup=False)


def _hinted(run: RunDir, text: str) -> str:
    result = run.result()
    if result is not None and result.reason.is_success:
        raise InputError(f"run {run.run_id} is {result.reason}; a hint can change nothing any more")
    give(run.path, text, getpass.getuser())
    if run.is_running():
        return f"run {run.run_id} gets it with its next iteration"
    return f"run {run.run_id} gets it when it goes on; continue it with 'buildloop resume {run.run_id}'"


def _answered(run: RunDir, choice: Choice) -> str:
    if run.is_running():
        return f"run {run.run_id} goes on with your answer: {choice}"
    return (
        f"your answer ({choice}) is written down; run {run.run_id} takes it when it goes on "
        f"(resume it in the Prefect UI, or with 'buildloop resume {run.run_id}')"
    )
