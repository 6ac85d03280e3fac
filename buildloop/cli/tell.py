"""`buildloop tell`: guidance for the next iteration of a run, and the answer to one that asks."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from buildloop.cli.output import console
from buildloop.cli.paths import state_folder
from buildloop.cli.suspended import resume_suspended
from buildloop.config import flag_of
from buildloop.errors import InputError
from buildloop.people.answer import Answer, Choice, write_answer
from buildloop.people.asked import Asked, open_question
from buildloop.people.hints import LONGEST_HINT, give
from buildloop.result import StopReason
from buildloop.rundir import RunDir, find_run
from buildloop.wording import in_words

# What each of them adds to.
BUDGETS = {"more_usd": "budget_usd", "more_minutes": "budget_minutes", "more_tokens": "budget_tokens"}


def tell_run(
    run_id: str,
    hint: str | None,
    state_dir: Path | None,
    *,
    accept: bool = False,
    stop: bool = False,
    more: Mapping[str, float | None] | None = None,
) -> None:
    """`more` are the fields of an answer that add to the run's limits; None is what was not said."""
    run = find_run(state_folder(state_dir), run_id)
    text = (hint or "").strip()
    added = {name: value for name, value in (more or {}).items() if value is not None}
    _check(text, added, accept=accept, stop=stop)
    asked = open_question(run)
    if asked is None:
        console().print(_hinted(run, text, added, decided=accept or stop), markup=False)
        return
    choice = Choice.ACCEPT if accept else Choice.STOP if stop else Choice.CONTINUE
    _check_fits(run, asked, choice, added)
    try:
        answer = Answer.model_validate({"choice": choice, "hint": text, **added})
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(in_words(first, flag_of(str(first["loc"][0])))) from None
    console().print(_answered(run, asked, answer), markup=False)


def _check(text: str, added: Mapping[str, float], *, accept: bool, stop: bool) -> None:
    if accept and stop:
        raise InputError("--accept and --stop exclude each other; choose one")
    if added and (accept or stop):
        raise InputError(
            f"{flag_of(next(iter(added)))} is for a run that goes on; leave it out, or --accept and --stop"
        )
    if not (text or accept or stop or added):
        raise InputError(
            "there is nothing to tell; give a hint in quotes, --more-iterations N, --accept or --stop"
        )
    if len(text) > LONGEST_HINT:
        raise InputError(f"the hint has {len(text)} characters; keep it under {LONGEST_HINT}")


def _check_fits(run: RunDir, asked: Asked, choice: Choice, added: Mapping[str, float]) -> None:
    request = run.request()
    for name, budget in BUDGETS.items():
        if name in added and getattr(request, budget) is None:
            raise InputError(
                f"run {run.run_id} has no {flag_of(budget)}, so {flag_of(name)} has nothing to add to"
            )
    if choice is Choice.CONTINUE and asked.reason is StopReason.BUDGET and not BUDGETS.keys() & added.keys():
        flags = [flag_of(name) for name, budget in BUDGETS.items() if getattr(request, budget) is not None]
        raise InputError(
            f"the budget of run {run.run_id} is used up; say how much more it gets with {' or '.join(flags)}"
        )


def _hinted(run: RunDir, text: str, added: Mapping[str, float], *, decided: bool) -> str:
    if decided:
        raise InputError(f"run {run.run_id} asks nothing; end it with 'buildloop cancel {run.run_id}'")
    if added:
        raise InputError(
            f"run {run.run_id} asks nothing; raise its limits with 'buildloop resume {run.run_id}' and its options"
        )
    result = run.result()
    if result is not None and result.reason.is_success:
        raise InputError(f"run {run.run_id} is {result.reason}; a hint can change nothing any more")
    give(run.path, text, getpass.getuser())
    if run.is_running():
        return f"run {run.run_id} gets it with its next iteration"
    return f"run {run.run_id} gets it when it goes on; continue it with 'buildloop resume {run.run_id}'"


def _answered(run: RunDir, asked: Asked, answer: Answer) -> str:
    """A suspended flow run is resumed with the answer; any other finds it beside its files."""
    goes_on = f"run {run.run_id} goes on with your answer: {answer.choice}"
    if asked.flow_run is None and not run.is_running():
        return _kept(run, asked, answer, "it is not at work")
    if asked.flow_run is not None:
        why_not = resume_suspended(asked, answer)
        return goes_on if why_not is None else _kept(run, asked, answer, why_not)
    write_answer(run.path, asked.key, answer)
    return goes_on


def _kept(run: RunDir, asked: Asked, answer: Answer, why: str) -> str:
    resume = f"'buildloop resume {run.run_id}'"
    if answer.choice is Choice.STOP:
        raise InputError(
            f"run {run.run_id} could not be told to stop: {why}; it does nothing until it is resumed, with {resume} "
            "or in the Prefect UI"
        )
    write_answer(run.path, asked.key, answer)
    return (
        f"your answer ({answer.choice}) is written down, but run {run.run_id} did not go on: {why}; it takes the "
        f"answer when you resume it, with {resume} or in the Prefect UI"
    )
