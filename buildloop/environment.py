"""What agents and gates find in their environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from buildloop.agents.environment import agent_environment
from buildloop.memory.location import VARIABLE as MEMORY_VARIABLE

# buildloop sets these for itself when it brings its own Prefect server; they are not the user's.
EMBEDDED_FLAG = "_BUILDLOOP_EMBEDDED"
# Who may talk to the Prefect API may start runs of any command, outside of every sandbox.
WAY_TO_PREFECT = frozenset({"PREFECT_API_URL", "PREFECT_API_KEY", "PREFECT_API_AUTH_STRING"})
# Lists of folders: what a recovery adds comes before what the user has, it does not replace it.
JOINED = ("PYTHONPATH", "PATH")
PYTHON_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


def child_environment(
    own: Mapping[str, str], workspace: Path, extra: Mapping[str, str], allowed: Sequence[str] = ()
) -> dict[str, str]:
    """The user's environment, without what Prefect and buildloop added to it.

    With `allowed` (globs of names) only those and what toolchains need: then no key reaches agent or gate by chance.
    """
    embedded = EMBEDDED_FLAG in own
    kept = {name: value for name, value in own.items() if not _is_ours(name, embedded)}
    if allowed:
        named = [name for name in kept if any(fnmatchcase(name, glob) for glob in allowed)]
        kept = agent_environment(kept, (), named)
    kept |= {name: value for name, value in extra.items() if name not in JOINED}
    paths = [*_python_paths(workspace), extra.get("PYTHONPATH", ""), kept.get("PYTHONPATH", "")]
    if joined := ":".join(filter(None, paths)):
        kept["PYTHONPATH"] = joined
    if programs := extra.get("PATH"):
        kept["PATH"] = ":".join(filter(None, [programs, kept.get("PATH", "")]))
    return kept


def _is_ours(name: str, embedded: bool) -> bool:
    """The address of a team's memory is ours too: it may hold a password, and no agent or test needs it."""
    if name in (EMBEDDED_FLAG, MEMORY_VARIABLE) or name in WAY_TO_PREFECT or name.startswith("PREFECT__"):
        return True
    return embedded and name.startswith("PREFECT_")


def _python_paths(workspace: Path) -> list[str]:
    """An editable install points at the user's checkout; the workspace's own code must come first."""
    if not any((workspace / name).exists() for name in PYTHON_PROJECT_FILES):
        return []
    return [str(workspace / "src")] if (workspace / "src").is_dir() else [str(workspace)]
