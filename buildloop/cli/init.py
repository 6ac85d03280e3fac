"""`buildloop init`: write buildloop.toml from what the repository shows."""

from __future__ import annotations

import json
from pathlib import Path

from buildloop.cli.output import console
from buildloop.config import CONFIG_FILE
from buildloop.detect import Detected, detect_tests
from buildloop.errors import InputError
from buildloop.files import write_atomic
from buildloop.workspace.git import git_or_none


def write_config(repo: Path, *, force: bool) -> None:
    path = repo.absolute() / CONFIG_FILE
    if not repo.is_dir():
        raise InputError(f"{repo} is not a directory; give the path of a repository")
    if git_or_none(repo, "rev-parse", "--show-toplevel") is None:
        raise InputError(f"{repo} is not a git repository; run 'git init' there and commit your files")
    if path.exists() and not force:
        raise InputError(f"{path} exists already; use --force to replace it")
    found = detect_tests(repo)
    try:
        write_atomic(path, config_text(found))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    screen = console()
    screen.print(f"wrote {path}", markup=False)
    if found:
        screen.print(f"  gate: {found[0].command} (because of {found[0].because})", markup=False)
    else:
        screen.print("  no tests were detected: put your gate command into 'test'", markup=False)


def config_text(found: list[Detected]) -> str:
    """TOML strings are JSON strings here: same quotes, same escapes."""
    gate = f"test = [{json.dumps(found[0].command)}]" if found else '# test = ["your test command"]'
    others = "".join(f"#   {json.dumps(other.command)} ({other.because})\n" for other in found[1:])
    also = f"# Also possible here:\n{others}" if others else ""
    return f"""\
# Settings of buildloop for this repository. Flags and BUILDLOOP_* variables win over this file.
# All of them: 'buildloop run --help' and docs/settings.md.

# Commands that decide; all must exit 0.
{gate}
{also}
# The agent: claude, codex, gemini, opencode or aider ('buildloop agents' says which are installed) …
# agent = "claude"
# … or any program that reads the prompt on stdin and edits the files of the current folder.
# agent_command = "my-agent --headless"

# Where it stops.
# budget_usd = 5.0
# max_iterations = 20
# max_restarts = 3
# agent_timeout = 1800
# gate_timeout = 900

# A green that was had by weakening tests: "block" counts it as red, "warn" says so, "off" looks away.
# integrity = "block"
# Files that are put back to the start before each gate.
# protect = ["tests/acceptance/**"]
"""
