"""The command line: what can be typed. What it does is in the other modules of this package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer
from typer import Argument, Option

from buildloop import __version__
from buildloop.cli.agents import app as agents_app
from buildloop.cli.options import (
    AgentEnvironment,
    AgentName,
    AsJson,
    Folder,
    GateCommands,
    IdleTimeout,
    JunitGlobs,
    Permissions,
    RunId,
    Seconds,
    Text,
    Verbose,
    Whole,
)
from buildloop.cli.output import complain
from buildloop.errors import BuildloopError

app = typer.Typer(
    name="buildloop",
    help="Run a coding agent until the tests are green; know why when they are not.",
    pretty_exceptions_enable=False,
)

app.add_typer(agents_app, name="agents")

# Typer carries its own copy of click in some versions; this is the class it raises in any of them.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def run_app() -> int:
    """Bad input is one sentence on stderr and exit code 2, never a traceback."""
    try:
        return int(app(standalone_mode=False) or 0)
    except UsageError as error:
        complain(f"{_first_sentence(error)} (see 'buildloop --help')")
        return 2
    except typer.Abort:
        return 130
    except BuildloopError as error:
        complain(str(error))
        return error.exit_code


def _first_sentence(error: Exception) -> str:
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    return text.strip().rstrip(".")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"buildloop {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    _: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def run(
    goal: Annotated[str, Argument(help="What the agent shall achieve, in your words.")],
    repo: Annotated[Path, Option("--repo", help="The git repository, or a folder inside it.")] = Path(),
    test: GateCommands = None,
    junit: JunitGlobs = None,
    accept: Annotated[
        Text, Option(help="Acceptance command that must pass too before the run is complete.")
    ] = None,
    agent: AgentName = None,
    agent_command: Annotated[
        Text, Option(help="Any program as the agent: prompt on stdin, run in the workspace.")
    ] = None,
    agent_script: Annotated[Text, Option(help="Rule file of the scripted agent (TOML or JSON).")] = None,
    model: Annotated[Text, Option(help="Model name handed to the agent.")] = None,
    permissions: Permissions = None,
    agent_session: Annotated[Text, Option(help="continue or fresh context. [default: continue]")] = None,
    agent_env: AgentEnvironment = None,
    max_turns: Annotated[Whole, Option(help="Most model requests in one agent call.")] = None,
    max_iterations: Annotated[
        Whole, Option(help="Most iterations of the run; N means N. [default: 20]")
    ] = None,
    max_restarts: Annotated[Whole, Option(help="Most restarts from a summary, 0 to 5. [default: 3]")] = None,
    agent_timeout: Annotated[Seconds, Option(help="Seconds one agent call may take. [default: 1800]")] = None,
    agent_idle_timeout: IdleTimeout = None,
    gate_timeout: Annotated[
        Seconds, Option(help="Seconds each gate command may take. [default: 900]")
    ] = None,
    retry_delay: Annotated[
        Seconds, Option(help="First wait after a passing agent error; doubles. [default: 30]")
    ] = None,
    context_window: Annotated[
        Whole, Option(help="Tokens the agent's context holds. [default: what it reports, else 200000]")
    ] = None,
    context_threshold: Annotated[
        Whole, Option(help="Percent of it that starts a new session. [default: 70]")
    ] = None,
    prompt_budget: Annotated[Whole, Option(help="Most characters of one prompt. [default: 200000]")] = None,
    failure_mode: Annotated[
        Text, Option(help="Force this diagnosis for every red gate, to try a strategy.")
    ] = None,
    branch: Annotated[Text, Option(help="Branch for the result. [default: buildloop/<run id>]")] = None,
    include_dirty: Annotated[
        bool, Option("--include-dirty", help="Start from a snapshot of uncommitted changes.")
    ] = False,
    from_head: Annotated[
        bool, Option("--from-head", help="Start from HEAD, without uncommitted changes.")
    ] = False,
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


@app.command()
def resume(
    run_id: RunId = None,
    max_iterations: Annotated[Whole, Option(help="New limit of iterations for the whole run.")] = None,
    max_restarts: Annotated[Whole, Option(help="New limit of restarts, 0 to 5.")] = None,
    agent_timeout: Annotated[Seconds, Option(help="New limit in seconds for one agent call.")] = None,
    gate_timeout: Annotated[Seconds, Option(help="New limit in seconds for each gate command.")] = None,
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
    }
    from buildloop.cli.resume import resume_run

    raise typer.Exit(resume_run(run_id, limits, state_dir, verbose=verbose, as_json=as_json))


@app.command()
def status(run_id: RunId = None, state_dir: Folder = None, as_json: AsJson = False) -> None:
    """List the runs, or show where one stands."""
    from buildloop.cli.status import show_status

    show_status(run_id, state_dir, as_json=as_json)


@app.command()
def report(
    run_id: RunId = None,
    form: Annotated[str, Option("--format", help="terminal, markdown or json.")] = "terminal",
    state_dir: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Tell the story of a run: what was asked, what is proven, what was tried."""
    from buildloop.cli.report import show_report

    show_report(run_id, "json" if as_json else form, state_dir)


@app.command()
def explain(run_id: RunId = None, state_dir: Folder = None, as_json: AsJson = False) -> None:
    """Say for each iteration why it was red, how sure that is, and what was done about it."""
    from buildloop.cli.explain import explain_run

    explain_run(run_id, state_dir, as_json=as_json)


@app.command(
    add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
def diagnose(context: typer.Context) -> None:
    """Explain a build or test log: what failed, why, where, what next."""
    from buildloop.cli.diagnose import main

    raise typer.Exit(main(context.args))


@app.command()
def init(
    repo: Annotated[Path, Argument(help="The repository.")] = Path(),
    force: Annotated[bool, Option("--force", help="Replace an existing buildloop.toml.")] = False,
) -> None:
    """Find out how a repository is tested and write buildloop.toml."""
    from buildloop.cli.init import write_config

    write_config(repo, force=force)


@app.command()
def doctor(
    repo: Annotated[Path, Option("--repo", help="Also check this repository.")] = Path(),
    state_dir: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Check this machine: git, agents, Prefect, disk, database; say what to do."""
    from buildloop.cli.doctor import examine

    raise typer.Exit(examine(repo, state_dir, as_json=as_json))


@app.command()
def demo(
    keep: Annotated[
        Optional[Path],  # noqa: UP045
        Option("--dir", help="Where to make the sample repository. [default: a new temporary folder]"),
    ] = None,
    verbose: Verbose = False,
) -> None:
    """Watch a loop fail five ways and turn green: no API key, no network, under a minute."""
    from buildloop.cli.demo import play_demo

    raise typer.Exit(play_demo(keep, verbose=verbose))


@app.command()
def ui(
    port: Annotated[int, Option(help="Port to listen on, if it is free.")] = 4200,
    state_dir: Folder = None,
) -> None:
    """Start the local Prefect server with its UI and print the link; Ctrl-C ends it."""
    from buildloop.cli.ui import serve_ui

    raise typer.Exit(serve_ui(port, state_dir))
