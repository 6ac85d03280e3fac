"""`buildloop fleet`: many goals from a file, worked on here, one line each as they end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from buildloop.cli.output import console, print_json
from buildloop.cli.own_packages import prefer_own_packages
from buildloop.cli.paths import state_folder
from buildloop.cli.prefect_api import start_prefect
from buildloop.cli.run import check_writable
from buildloop.errors import BuildloopError, InputError
from buildloop.fleet.request import checked, plan_of
from buildloop.fleet.result import FleetResult
from buildloop.request import new_run_id
from buildloop.workspace.git import forget_calling_git


def run_fleet(
    file: Path | None,
    state_dir: Path | None,
    *,
    given: Mapping[str, Any],
    fleet_id: str | None,
    verbose: bool,
    as_json: bool,
) -> int:
    """0 when all goals are complete (in a race: one), else 1. `given` are fields of the request; None is what was not
    said."""
    forget_calling_git()
    folder = state_folder(state_dir)
    os.environ["BUILDLOOP_STATE_DIR"] = str(folder)
    if file is None and given["label"] is None:
        raise InputError("the fleet has no goals; give a file of them, or --label for GitHub issues")
    request = checked(
        {
            "file": str(file.absolute()) if file else None,
            "fleet_id": fleet_id or f"fleet-{new_run_id()}",
            **{name: value for name, value in given.items() if value is not None},
        }
    )
    plan = plan_of(request, str(request.fleet_id))
    check_writable(folder)
    screen = console(stderr=as_json)
    screen.print(
        f"fleet {request.fleet_id}: {len(plan.requests)} {'ways' if plan.race else 'goals'}", markup=False
    )
    starting = start_prefect(folder, verbose=verbose)
    prefer_own_packages()
    from flows.fleet import fleet

    starting.wait()
    outcome = fleet(request, return_state=True).result(raise_on_failure=False)
    if isinstance(outcome, BuildloopError):
        raise outcome
    if not isinstance(outcome, FleetResult):
        raise BuildloopError(
            f"the fleet ended without a result ({outcome!r}); start it again with --id {request.fleet_id}"
        )
    if as_json:
        print_json(
            {**outcome.model_dump(mode="json"), "complete": outcome.complete, "cost_usd": outcome.cost_usd}
        )
        return 0 if outcome.complete else 1
    for entry in outcome.entries:
        colour = "green" if entry.complete else "red"
        words = entry.outcome.replace("_", " ")
        screen.print(f"  [{colour}]{words:<18}[/{colour}] {entry.run_id:<28} ", end="")
        screen.print(entry.goal, markup=False)
    screen.print(f"{outcome.in_words}, {outcome.seconds:.0f} s", markup=False)
    return 0 if outcome.complete else 1
