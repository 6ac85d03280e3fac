"""The real agent CLIs, in exactly the versions of the catalogue, in a cache folder outside of the repository."""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from buildloop.agents.catalogue import CATALOGUE, AgentCli

# Read when this is imported: tests get homes of their own.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "buildloop-agents"
INSTALLERS_ENVIRONMENT = dict(os.environ)
INSTALL_SECONDS = 600


@functools.cache
def why_not(name: str) -> str | None:
    """Why this CLI cannot be had here; None when it is installed, or was just now. Tried once in a test run."""
    cli = CATALOGUE[name]
    if (folder_of(cli) / ".complete").exists():
        return None
    if cli.registry == "npm" and (shutil.which("node") is None or shutil.which("npm") is None):
        return f"{cli.title} needs Node and npm"
    return _install(cli)


def folder_of(cli: AgentCli) -> Path:
    return CACHE / f"{cli.name}-{cli.tested}"


def programs_of(name: str) -> Path:
    """The folder to put on PATH."""
    cli = CATALOGUE[name]
    return folder_of(cli) / ("node_modules/.bin" if cli.registry == "npm" else "bin")


def _install(cli: AgentCli) -> str | None:
    folder = folder_of(cli)
    folder.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{cli.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / ".complete").exists():
            return None
        for command in _commands(cli, folder):
            try:
                ran = subprocess.run(
                    command,
                    capture_output=True,
                    text=True,
                    timeout=INSTALL_SECONDS,
                    env=INSTALLERS_ENVIRONMENT,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return f"{cli.title} {cli.tested} could not be installed: {error}"
            if ran.returncode != 0:
                said = (ran.stderr or ran.stdout).strip().splitlines()
                return (
                    f"{cli.title} {cli.tested} could not be installed: {said[-1] if said else 'no message'}"
                )
        (folder / ".complete").touch()
    return None


def _commands(cli: AgentCli, folder: Path) -> list[list[str]]:
    if cli.registry == "npm":
        quiet = ["--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=0"]
        return [["npm", "install", "--prefix", str(folder), *quiet, f"{cli.package}@{cli.tested}"]]
    quiet = ["--quiet", "--disable-pip-version-check", "--retries=1"]
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", *quiet, f"{cli.package}=={cli.tested}"]
    return [[sys.executable, "-m", "venv", str(folder)], install]
