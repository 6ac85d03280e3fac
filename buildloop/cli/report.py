"""`buildloop report`: the story of a run, for a terminal, a file, GitHub, a browser or a program."""

from __future__ import annotations

import json
import os
from pathlib import Path

from rich.markdown import Markdown

from buildloop.cli.output import console
from buildloop.cli.paths import state_folder
from buildloop.cli.status import run_facts
from buildloop.errors import InputError
from buildloop.files import write_atomic
from buildloop.redact import redactor
from buildloop.report.facts import facts_of
from buildloop.report.github_report import github_report
from buildloop.report.html import html_report
from buildloop.report.markdown import run_report
from buildloop.report.masked import masked_value
from buildloop.rundir import RunDir, find_run

FORMATS = ("terminal", "markdown", "github", "html", "json")


def show_report(run_id: str | None, form: str, output: Path | None, state_dir: Path | None) -> None:
    if form not in FORMATS:
        raise InputError(f"there is no report format {form!r}; choose {', '.join(FORMATS)}")
    run = find_run(state_folder(state_dir), run_id)
    if output is not None:
        _write(output, report_text(run, "markdown" if form == "terminal" else form))
        return
    screen = console()
    if form == "terminal" and screen.is_terminal:
        screen.print(Markdown(report_text(run, "markdown")))
    else:
        print(report_text(run, "markdown" if form == "terminal" else form), end="")


def report_text(run: RunDir, form: str) -> str:
    if form == "json":
        iterations = [one.model_dump(mode="json") for one in run.iterations()]
        told = masked_value({**run_facts(run), "iterations": iterations}, redactor(os.environ))
        return json.dumps(told, indent=2, ensure_ascii=False) + "\n"
    facts = facts_of(run)
    if form == "html":
        return html_report(facts)
    return github_report(facts) if form == "github" else run_report(facts)


def _write(path: Path, text: str) -> None:
    try:
        write_atomic(path, text)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); choose another file with --output"
        ) from None
    print(path)
