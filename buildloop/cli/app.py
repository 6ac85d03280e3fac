"""The command line: what can be typed. What it does is in the other modules of this package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer
from typer import Argument, Option

from buildloop import __version__
from buildloop.cli.agents import app as agents_app
from buildloop.cli.memory import memory
from buildloop.cli.options import AsJson, Folder, Output, ReportFormat, RunId, Verbose
from buildloop.cli.output import complain
from buildloop.cli.steer import cancel, resume, tell
from buildloop.cli.suggestions import suggestions
from buildloop.cli.usage import Command, Group, in_a_sentence, show_help
from buildloop.cli.work import fleet, run
from buildloop.errors import BuildloopError

app = typer.Typer(
    name="buildloop",
    help="Run a coding agent until the tests are green; know why when they are not.",
    pretty_exceptions_enable=False,
    cls=Group,
)

app.add_typer(agents_app, name="agents")

# Typer carries its own copy of click in some versions; this is the class it raises in any of them.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def run_app() -> int:
    """Bad input is one sentence on stderr and exit code 2, never a traceback."""
    try:
        return int(app(standalone_mode=False, prog_name="buildloop") or 0)
    except UsageError as error:
        complain(in_a_sentence(error))
        return 2
    except typer.Abort:
        return 130
    except BuildloopError as error:
        complain(str(error))
        return error.exit_code


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
    show_help(context)


app.command(cls=Command)(run)
app.command(cls=Command)(resume)
app.command(cls=Command)(cancel)
app.command(cls=Command)(tell)
app.command(cls=Command)(fleet)
app.add_typer(memory, name="memory")
app.add_typer(suggestions, name="suggestions")


@app.command(cls=Command)
def status(run_id: RunId = None, state_dir: Folder = None, as_json: AsJson = False) -> None:
    """List the runs, or show where one stands."""
    from buildloop.cli.status import show_status

    show_status(run_id, state_dir, as_json=as_json)


@app.command(cls=Command)
def report(
    run_id: RunId = None,
    form: ReportFormat = "terminal",
    output: Output = None,
    state_dir: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Tell the story of a run: what was asked, what is proven, what was tried."""
    from buildloop.cli.report import show_report

    show_report(run_id, "json" if as_json else form, output, state_dir)


@app.command(cls=Command)
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


@app.command(cls=Command)
def init(
    repo: Annotated[Path, Argument(help="The repository.")] = Path(),
    force: Annotated[bool, Option("--force", help="Replace an existing buildloop.toml.")] = False,
) -> None:
    """Find out how a repository is tested and write buildloop.toml."""
    from buildloop.cli.init import write_config

    write_config(repo, force=force)


@app.command(cls=Command)
def doctor(
    repo: Annotated[Path, Option("--repo", help="Also check this repository.")] = Path(),
    state_dir: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Check this machine: git, agents, Prefect, disk, database; say what to do."""
    from buildloop.cli.doctor import examine

    raise typer.Exit(examine(repo, state_dir, as_json=as_json))


@app.command(cls=Command)
def demo(
    keep: Annotated[
        Optional[Path],  # noqa: UP045
        Option("--dir", help="Where to make the sample repository. (default: a new temporary folder)"),
    ] = None,
    verbose: Verbose = False,
) -> None:
    """Watch a loop fail five ways and turn green: no API key, no network, under a minute."""
    from buildloop.cli.demo import play_demo

    raise typer.Exit(play_demo(keep, verbose=verbose))


@app.command(cls=Command)
def ui(
    port: Annotated[int, Option(min=1, max=65535, help="Port to listen on, if it is free.")] = 4200,
    state_dir: Folder = None,
) -> None:
    """Start the local Prefect server with its UI and print the link; Ctrl-C ends it."""
    from buildloop.cli.ui import serve_ui

    raise typer.Exit(serve_ui(port, state_dir))
