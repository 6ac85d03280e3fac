"""The commands that work on a run: start it, continue it, stop it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from buildloop.cli.options import (
    AGENT,
    CONTEXT,
    GATE,
    LIMITS,
    AgentEnvironment,
    AgentName,
    AllowTestChanges,
    AsJson,
    Ask,
    BudgetMinutes,
    BudgetTokens,
    BudgetUsd,
    Context,
    DryRun,
    EnvAllow,
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
    RunId,
    Sandbox,
    SandboxImage,
    SandboxNetwork,
    SandboxWritable,
    SharedMemory,
    Text,
    Verbose,
    Whole,
)


def agent_option(text: str) -> Any:  # noqa: ANN401 (Typer's options have no public type)
    return Option(help=text, rich_help_panel=AGENT)


def limit(text: str) -> Any:  # noqa: ANN401
    return Option(help=text, rich_help_panel=LIMITS)


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
