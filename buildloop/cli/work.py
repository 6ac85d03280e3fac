"""The commands that begin work: one run, or a fleet of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from buildloop.cli.options import (
    AGENT,
    CONTEXT,
    GATE,
    AgentEnvironment,
    AgentName,
    AllowTestChanges,
    AsJson,
    Ask,
    BudgetMinutes,
    BudgetTokens,
    BudgetUsd,
    Context,
    CounterProof,
    DryRun,
    EnvAllow,
    Falsify,
    FalsifyCommand,
    Folder,
    GateCommands,
    GithubRepo,
    Goal,
    IdleTimeout,
    Integrity,
    Issue,
    JunitGlobs,
    Number,
    Permissions,
    Protect,
    Sandbox,
    SandboxImage,
    SandboxNetwork,
    SandboxWritable,
    SharedMemory,
    Text,
    Verbose,
    Whole,
    limit,
)


def agent_option(text: str) -> Any:  # noqa: ANN401 (Typer's options have no public type)
    return Option(help=text, rich_help_panel=AGENT)


def context_option(text: str) -> Any:  # noqa: ANN401
    return Option(help=text, rich_help_panel=CONTEXT)


def run(
    goal: Goal = "",
    repo: Annotated[Path, Option("--repo", help="The git repository, or a folder inside it.")] = Path(),
    test: GateCommands = None,
    junit: JunitGlobs = None,
    accept: Annotated[
        Text,
        Option(
            help="Acceptance command that must pass too before the run is complete.", rich_help_panel=GATE
        ),
    ] = None,
    agent: AgentName = None,
    agent_command: Annotated[
        Text, agent_option("Any program as the agent: prompt on stdin, run in the workspace.")
    ] = None,
    agent_script: Annotated[Text, agent_option("Rule file of the scripted agent (TOML or JSON).")] = None,
    model: Annotated[
        Text, agent_option("Model handed to the agent; with commas from cheap to strong, used in that order.")
    ] = None,
    permissions: Permissions = None,
    agent_session: Annotated[
        Text, agent_option("continue or fresh: whether iterations share one context. (default: continue)")
    ] = None,
    agent_env: AgentEnvironment = None,
    max_turns: Annotated[Whole, limit("Most model requests in one agent call. (claude, gemini)")] = None,
    max_iterations: Annotated[Whole, limit("Most iterations of the run. (default: 20)")] = None,
    extension_size: Annotated[
        Whole,
        limit("More at the limit, at most 3 times, while fewer and fewer fail; 0: never. (default: 5)"),
    ] = None,
    max_restarts: Annotated[Whole, limit("Most restarts from a summary, 0 to 5. (default: 3)")] = None,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    budget_minutes: BudgetMinutes = None,
    agent_timeout: Annotated[Number, limit("Seconds one agent call may take. (default: 1800)")] = None,
    agent_idle_timeout: IdleTimeout = None,
    gate_timeout: Annotated[Number, limit("Seconds each gate command may take. (default: 900)")] = None,
    retry_delay: Annotated[
        Number, limit("First wait after a passing agent error; doubles. (default: 30)")
    ] = None,
    max_wait: Annotated[
        Number, limit("Longest wait for an agent that says when it answers again. (default: 21600)")
    ] = None,
    context_window: Annotated[
        Whole, context_option("Tokens the agent's context holds. (default: what it reports, else 200000)")
    ] = None,
    context_threshold: Annotated[
        Whole, context_option("Percent of it that starts a new session. (default: 70)")
    ] = None,
    prompt_budget: Annotated[
        Whole, context_option("Most characters of one prompt. (default: 200000)")
    ] = None,
    failure_mode: Annotated[
        Text, context_option("Force this diagnosis for every red gate, to try a strategy.")
    ] = None,
    shared_memory: SharedMemory = None,
    integrity: Integrity = None,
    counter_proof: CounterProof = None,
    falsify: Falsify = None,
    falsify_command: FalsifyCommand = None,
    allow_test_changes: AllowTestChanges = None,
    protect: Protect = None,
    sandbox: Sandbox = None,
    sandbox_image: SandboxImage = None,
    sandbox_network: SandboxNetwork = None,
    sandbox_writable: SandboxWritable = None,
    env_allow: EnvAllow = None,
    branch: Annotated[Text, Option(help="Branch for the result. (default: buildloop/<run id>)")] = None,
    include_dirty: Annotated[
        bool, Option("--include-dirty", help="Start from a snapshot of uncommitted changes.")
    ] = False,
    from_head: Annotated[
        bool, Option("--from-head", help="Start from HEAD, without uncommitted changes.")
    ] = False,
    human: Ask = None,
    context: Context = None,
    issue: Issue = None,
    github_repo: GithubRepo = None,
    dry_run: DryRun = False,
    state_dir: Folder = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Work on GOAL until the gate is green.

    The agent works in a worktree of its own on a branch of its own; your checkout stays as it is.
    """
    flags: dict[str, Any] = {**locals()}
    from buildloop.cli.run import start_run

    raise typer.Exit(start_run(flags))


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
