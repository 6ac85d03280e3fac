"""`buildloop status`: which runs there are and where they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from buildloop.cli.output import console, print_json
from buildloop.cli.paths import state_folder
from buildloop.errors import InputError
from buildloop.people.asked import open_question
from buildloop.result import BuildResult
from buildloop.rundir import RunDir, find_run, runs_in
from buildloop.text import one_line

SHOWN = 20


def show_status(run_id: str | None, state_dir: Path | None, *, as_json: bool) -> None:
    folder = state_folder(state_dir)
    runs = [find_run(folder, run_id)] if run_id else runs_in(folder)[:SHOWN]
    facts = [run_facts(run) if run_id else _facts_or_damage(run) for run in runs]
    if as_json:
        print_json(facts[0] if run_id else facts)
        return
    screen = console()
    if not runs:
        screen.print(f"no runs in {folder}; start one with 'buildloop run'", markup=False)
        return
    table = Table(box=None, pad_edge=False)
    for title in ("run", "state", "iteration", "failing", "goal", "branch"):
        table.add_column(title, overflow="fold")
    for fact in facts:
        shown = (fact["run_id"], fact["state"], f"{fact['iteration']}/{fact['max_iterations']}")
        failing = "-" if fact["failing"] is None else str(fact["failing"])
        table.add_row(*shown, failing, escape(one_line(fact["goal"], 50)), escape(fact["branch"]))
    screen.print(table)


def _facts_or_damage(run: RunDir) -> dict[str, Any]:
    """One run with damaged files must not hide the others."""
    try:
        return run_facts(run)
    except InputError as error:
        unknown = {
            "iteration": 0,
            "max_iterations": 0,
            "failing": None,
            "repo": "",
            "branch": "",
            "result": None,
        }
        return {
            "run_id": run.run_id,
            "state": "damaged",
            "goal": str(error),
            "run_dir": str(run.path),
            **unknown,
        }


def run_facts(run: RunDir) -> dict[str, Any]:
    request, result, done = run.request(), run.result(), run.iterations()
    workspace = run.workspace()
    return {
        "run_id": run.run_id,
        "state": _state(run, result),
        "iteration": done[-1].number if done else 0,
        "max_iterations": request.max_iterations,
        "failing": done[-1].gate.failing_count if done else None,
        "goal": request.goal,
        "repo": request.repo,
        "branch": workspace.branch if workspace else "",
        "run_dir": str(run.path),
        "result": result.as_json() if result else None,
    }


def _state(run: RunDir, result: BuildResult | None) -> str:
    if result is None and open_question(run) is not None:
        return "waiting"
    if run.is_running():
        return "running"
    return result.reason if result else "interrupted"
