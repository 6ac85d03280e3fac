"""What can be typed about more than one's own run: `tell` and `fleet`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from buildloop.cli.options import AsJson, Folder, Number, Text, Verbose, Whole


def tell(
    run_id: Annotated[str, Argument(metavar="RUN", help="Run id or its beginning.")],
    hint: Annotated[
        Text, Argument(help="Guidance for the agent, shown to it once, in the next prompt.")
    ] = None,
    accept: Annotated[bool, Option("--accept", help="To a run that asks: take the work as it is.")] = False,
    stop: Annotated[bool, Option("--stop", help="To a run that asks: end it.")] = False,
    more_iterations: Annotated[
        Whole, Option(min=0, help="To a run that asks: iterations to add. (default: 5)")
    ] = None,
    more_usd: Annotated[
        Number, Option(min=0, help="To a run that asks: dollars to add to its budget.")
    ] = None,
    more_minutes: Annotated[
        Number, Option(min=0, help="To a run that asks: minutes to add to its budget.")
    ] = None,
    more_tokens: Annotated[
        Whole, Option(min=0, help="To a run that asks: tokens to add to its budget.")
    ] = None,
    state_dir: Folder = None,
) -> None:
    """Give a run guidance for its next iteration, or answer one that asks (--ask)."""
    from buildloop.cli.tell import tell_run

    tell_run(
        run_id,
        hint,
        state_dir,
        accept=accept,
        stop=stop,
        more={
            "more_iterations": more_iterations,
            "more_usd": more_usd,
            "more_minutes": more_minutes,
            "more_tokens": more_tokens,
        },
    )


def fleet(
    file: Annotated[
        Path | None,
        Argument(help="File of goals: TOML, or JSON lines (docs/fleet.md)."),
    ] = None,
    label: Annotated[Text, Option(help="Also every open GitHub issue with this label.")] = None,
    repo: Annotated[
        Path | None,
        Option(help="For issues: the checkout to work on. (default: this folder)"),
    ] = None,
    github_repo: Annotated[
        Text, Option(help="For issues: OWNER/NAME on GitHub. (default: that of the checkout's remote)")
    ] = None,
    parallel: Annotated[Whole, Option(min=1, help="Most runs at the same time. (default: 4)")] = None,
    budget_usd: Annotated[Number, Option(help="Most dollars all runs together may cost.")] = None,
    deployment: Annotated[
        Text, Option(help="Run each goal as this Prefect deployment, e.g. build-loop/on-demand.")
    ] = None,
    fleet_id: Annotated[Text, Option("--id", help="Continue this fleet, or name the new one.")] = None,
    state_dir: Folder = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Work on many goals at once, or race several ways to one goal."""
    from buildloop.cli.fleet import run_fleet

    raise typer.Exit(
        run_fleet(
            file,
            state_dir,
            given={
                "label": label,
                "repo": str((repo or Path()).absolute()) if label else None,
                "github_repo": github_repo,
                "parallel": parallel,
                "budget_usd": budget_usd,
                "deployment": deployment,
            },
            fleet_id=fleet_id,
            verbose=verbose,
            as_json=as_json,
        )
    )
