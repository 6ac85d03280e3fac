"""`buildloop agents`: which agent CLIs there are, which of them this machine has, and whether one works."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from typer import Argument, Option

from buildloop.cli.options import AsJson, Number, Text
from buildloop.cli.output import console, print_json
from buildloop.cli.usage import Command, Group
from buildloop.errors import InputError
from buildloop.text import one_line

# The command line is loaded for every command; what only these need is loaded when they are called.
if TYPE_CHECKING:
    from buildloop.agents.catalogue import AgentCli

VERSION_SECONDS = 20.0
TEST_SECONDS = 300.0
QUESTION = "This is a check. Do not use any tool and change nothing. Answer with the one word: ready"

app = typer.Typer(
    help="List the agent CLIs buildloop works with, or check one.", invoke_without_command=True, cls=Group
)


@dataclass(frozen=True, slots=True)
class Found:
    """`version` is None when the program is not there or does not answer."""

    name: str
    path: str | None
    version: str | None
    tested: str
    install: str

    @property
    def is_tested(self) -> bool:
        return self.version is not None and self.tested in self.version


def look_for(cli: AgentCli) -> Found:
    path = shutil.which(cli.name)
    version = version_of(cli.name) if path else None
    return Found(cli.name, path, version, cli.tested, cli.install)


def version_of(program: str) -> str | None:
    try:
        ran = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return one_line((ran.stdout or ran.stderr).strip().split("\n")[0], 80) or None


@app.callback()
def list_agents(context: typer.Context, as_json: AsJson = False) -> None:
    """List the agent CLIs: installed or how to install, and what each can do."""
    if context.invoked_subcommand is not None:
        return
    from buildloop.agents.catalogue import CATALOGUE

    found = [(cli, look_for(cli)) for cli in CATALOGUE.values()]
    if as_json:
        print_json([asdict(one) | _abilities(cli) for cli, one in found])
        return
    screen = console()
    for cli, one in found:
        colour = "green" if one.path else "yellow"
        state = one.version or "installed, but --version does not answer"
        screen.print(
            f"[{colour}]{cli.name:<9}[/{colour}] {cli.title}: {escape(state if one.path else 'not installed')}"
        )
        if one.path is None:
            screen.print(f"          install: {escape(one.install)}")
        elif not one.is_tested:
            screen.print(f"          tested with {one.tested}; other versions may print something else")
        screen.print(f"          {escape(_in_words(cli))}")
    screen.print("command   any program: --agent-command 'PROGRAM …', the prompt comes on its stdin")
    screen.print("scripted  rules from a file: --agent-script FILE, for trying things out")


def _abilities(cli: AgentCli) -> dict[str, Any]:
    return {
        "title": cli.title,
        "keys": list(cli.keys),
        "permissions": [str(one) for one in cli.permissions],
        "continues_sessions": cli.resumes,
        "limits_turns": cli.limits_turns,
        "tells_cost": cli.tells_cost,
        "tells_window": cli.tells_window,
        "notes": cli.notes,
    }


def _in_words(cli: AgentCli) -> str:
    parts = [
        "continues sessions" if cli.resumes else "every call starts anew",
        "--max-turns" if cli.limits_turns else "no --max-turns",
        "tells its cost" if cli.tells_cost else "cost from the price list",
        f"permissions {', '.join(cli.permissions)}",
        f"key: {' or '.join(cli.keys)}",
        cli.notes,
    ]
    return "; ".join(part for part in parts if part)


@app.command(cls=Command)
def test(
    name: Annotated[str, Argument(help="claude, codex, gemini, opencode or aider.")],
    model: Annotated[Text, Option(help="Model name handed to the agent.")] = None,
    timeout: Annotated[Number, Option(min=1, help="Seconds it may take. (default: 300)")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask one agent one question in a throw-away repository and print what came of it. Costs one model request."""
    raise typer.Exit(_check(name, model, timeout or TEST_SECONDS, as_json=as_json))


def _check(name: str, model: str | None, timeout: float, *, as_json: bool) -> int:
    from buildloop.agents.catalogue import CATALOGUE
    from buildloop.agents.contract import AgentCall
    from buildloop.agents.registry import check_agent_name, cli_agent
    from buildloop.environment import child_environment
    from buildloop.models import AgentOutcome
    from buildloop.redact import redactor
    from buildloop.workspace.git import run_git

    check_agent_name(name)
    if name not in CATALOGUE:
        raise InputError(
            f"{name!r} is no agent CLI that can be checked; choose one of {', '.join(CATALOGUE)}"
        )
    agent = cli_agent(name)
    agent.check()
    with tempfile.TemporaryDirectory(prefix="buildloop-check-") as folder:
        root = Path(folder)
        work, out = root / "work", root / "out"
        for made in (work, out, root / "run"):
            made.mkdir()
        run_git(work, "init", "-q")
        (work / "README.md").write_text("A throw-away repository.\n", encoding="utf-8")
        (out / "prompt.md").write_text(QUESTION + "\n", encoding="utf-8")
        reply = agent.run(
            AgentCall(
                prompt=out / "prompt.md",
                workdir=work,
                output_dir=out,
                run_dir=root / "run",
                environment=child_environment(os.environ, work, {}),
                timeout=timeout,
                mark=root.name,
                redact=redactor(os.environ),
                session=1,
                iteration=1,
                model=model,
                idle_timeout=timeout,
            )
        )
    told = reply.model_dump(mode="json")
    if as_json:
        print_json(told)
    else:
        _show(told, version_of(name))
    return 0 if reply.outcome is AgentOutcome.OK else 1


def _show(told: dict[str, Any], version: str | None) -> None:
    usage = told["usage"]
    rows = {
        "outcome": told["outcome"],
        "error": told["error"],
        "answer": one_line(told["text"], 200),
        "version": version,
        "model": told["model"],
        "session": told["session_id"],
        "turns": told["turns"],
        "seconds": round(told["seconds"], 1),
        "tokens": ", ".join(
            f"{name.removesuffix('_tokens')} {count}"
            for name, count in usage.items()
            if name.endswith("_tokens") and name != "context_tokens" and count is not None
        ),
        "cost": None if usage["cost_usd"] is None else f"{usage['cost_usd']:.6f} $",
        "context": usage["context_tokens"]
        and f"{usage['context_tokens']} of {told['context_window'] or 'unknown'} tokens",
        "denied": ", ".join(told["denials"]),
    }
    screen = console()
    for name, value in rows.items():
        if value not in ("", None):
            screen.print(f"{name:<8} {escape(str(value))}")
