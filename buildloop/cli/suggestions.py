"""`buildloop suggestions`: what was suggested, and what came of it."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from typer import Argument, Option

from buildloop.cli.memory import opened
from buildloop.cli.options import AsJson, Folder, RunId
from buildloop.cli.output import console, print_json
from buildloop.cli.paths import state_folder
from buildloop.cli.usage import Command, Group, show_help
from buildloop.errors import InputError

suggestions = typer.Typer(help="What runs were told to try, and whether it worked.", cls=Group)

SHOWN = 50
OUTCOMES = {None: "open", "true": "worked", "false": "did not work"}


suggestions.callback(invoke_without_command=True)(show_help)


@suggestions.command("list", cls=Command)
def list_suggestions(
    run_id: RunId = None,
    open_only: Annotated[bool, Option("--open", help="Only those without an outcome.")] = False,
    everything: Annotated[bool, Option("--all", help="Of all runs, the newest first.")] = False,
    state_dir: Folder = None,
    as_json: AsJson = False,
) -> None:
    """List the suggestions of a run."""
    from buildloop.memory.suggestions import suggestions_of
    from buildloop.rundir import find_run

    run = None if everything else find_run(state_folder(state_dir), run_id).run_id
    with closing(opened()) as store:
        found = suggestions_of(store, run, limit=SHOWN)
    found = [one for one in found if one.resolved is None or not open_only]
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    screen = console()
    if not found:
        screen.print("no suggestions" + ("" if run is None else f" in run {run}"), markup=False)
        return
    table = Table(box=None, pad_edge=False)
    for title in ("id", "class", "stage", "outcome", "actions"):
        table.add_column(title, overflow="fold")
    for one in found:
        told = "\n".join(f"{number}. {text}" for number, text in enumerate(one.actions, 1))
        table.add_row(one.id, one.category, one.stage, OUTCOMES[one.resolved], escape(told))
    screen.print(table)


@suggestions.command(cls=Command)
def resolve(
    suggestion_id: Annotated[str, Argument(metavar="ID", help="The suggestion, or the beginning of its id.")],
    failed: Annotated[bool, Option("--failed", help="It was tried and did not help.")] = False,
    state_dir: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Say yourself what came of a suggestion that is still open; it counts like an outcome of a run."""
    from buildloop.memory.suggestions import (
        SUGGESTIONS_FILE,
        export_suggestions,
        find_suggestions,
        mark_suggestion_resolved,
        suggestions_of,
    )
    from buildloop.rundir import RunDir

    with closing(opened()) as store:
        matches = find_suggestions(store, suggestion_id)
        exact = [one for one in matches if one.id == suggestion_id]
        if len(exact or matches) != 1:
            problem = "more than one suggestion starts with" if matches else "there is no suggestion"
            raise InputError(f"{problem} {suggestion_id!r}; see 'buildloop suggestions list'")
        (one,) = exact or matches
        if one.resolved is not None:
            raise InputError(f"suggestion {one.id} is settled already: it {OUTCOMES[one.resolved]}")
        run = RunDir(state_folder(state_dir) / "runs" / one.run)
        emit = run.events.emit if run.path.is_dir() else _nowhere
        mark_suggestion_resolved(store, one.id, "false" if failed else "true", emit=emit)
        if run.path.is_dir():
            export_suggestions(suggestions_of(store, one.run), run.path / SUGGESTIONS_FILE)
    outcome = "false" if failed else "true"
    if as_json:
        print(json.dumps({"id": one.id, "resolved": outcome}))
    else:
        console().print(f"suggestion {one.id}: {OUTCOMES[outcome]}", markup=False)


def _nowhere(event_type: str, **fields: object) -> None:
    """The run's folder is gone, and its event log with it."""
