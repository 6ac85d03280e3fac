"""`buildloop report`: the story of a run."""

from __future__ import annotations

from pathlib import Path

from rich.markdown import Markdown

from buildloop.cli.output import console, print_json
from buildloop.cli.paths import state_folder
from buildloop.cli.status import run_facts
from buildloop.errors import InputError
from buildloop.report.markdown import run_report
from buildloop.rundir import RunDir, find_run
from buildloop.text import plain_text

FORMATS = ("terminal", "markdown", "json")


def show_report(run_id: str | None, form: str, state_dir: Path | None) -> None:
    if form not in FORMATS:
        raise InputError(f"there is no report format {form!r}; choose {', '.join(FORMATS)}")
    run = find_run(state_folder(state_dir), run_id)
    if form == "json":
        iterations = [one.model_dump(mode="json") for one in run.iterations()]
        print_json({**run_facts(run), "iterations": iterations})
        return
    text = plain_text(markdown_report(run))
    screen = console()
    if form == "markdown" or not screen.is_terminal:
        print(text, end="")
    else:
        screen.print(Markdown(text))


def markdown_report(run: RunDir) -> str:
    workspace = run.workspace()
    return run_report(run.request(), run.iterations(), workspace.branch if workspace else "", run.result())
