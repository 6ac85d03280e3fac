"""`buildloop init`: write buildloop.toml from what the repository shows."""

from __future__ import annotations

import json
from pathlib import Path

from buildloop.cli.output import console
from buildloop.config import CONFIG_FILE
from buildloop.detect import Detected, detect_tests
from buildloop.errors import InputError
from buildloop.files import write_atomic


def write_config(repo: Path, *, force: bool) -> None:
    path = repo.absolute() / CONFIG_FILE
    if not repo.is_dir():
        raise InputError(f"{repo} is not a directory; give the path of a repository")
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

# Commands that decide; all must exit 0.
{gate}
{also}
# The agent: any program that reads the prompt on stdin and edits the files of the current folder.
# agent_command = "my-agent --headless"

# max_iterations = 20
# max_restarts = 3
# agent_timeout = 1800
# gate_timeout = 900
"""
