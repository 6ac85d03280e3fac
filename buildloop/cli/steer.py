"""The commands for a run that is there already: go on with it, end it, tell it something."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from buildloop.cli.options import (
    AsJson,
    BudgetMinutes,
    BudgetTokens,
    BudgetUsd,
    Folder,
    Number,
    RunId,
    Text,
    Verbose,
    Whole,
    limit,
)


def resume(
    run_id: RunId = None,
    max_iterations: Annotated[Whole, limit("New limit of iterations for the whole run.")] = None,
    max_restarts: Annotated[Whole, limit("New limit of restarts, 0 to 5.")] = None,
    agent_timeout: Annotated[Number, limit("New limit in seconds for one agent call.")] = None,
    gate_timeout: Annotated[Number, limit("New limit in seconds for each gate command.")] = None,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    budget_minutes: BudgetMinutes = None,
    state_dir: Folder = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Continue a run after a crash, a kill, a stop or a reboot. Finished work is not repeated."""
    limits = {
        "max_iterations": max_iterations,
        "max_restarts": max_restarts,
        "agent_timeout": agent_timeout,
        "gate_timeout": gate_timeout,
        "budget_usd": budget_usd,
        "budget_tokens": budget_tokens,
        "budget_minutes": budget_minutes,
    }
    from buildloop.cli.resume import resume_run

    raise typer.Exit(resume_run(run_id, limits, state_dir, verbose=verbose, as_json=as_json))


def cancel(run_id: RunId = None, state_dir: Folder = None, as_json: AsJson = False) -> None:
    """Stop a running run: agent and gate end within seconds, finished work is kept, it can be resumed."""
    from buildloop.cli.cancel import cancel_run

    cancel_run(run_id, state_dir, as_json=as_json)


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
