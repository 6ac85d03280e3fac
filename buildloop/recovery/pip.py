"""pip for the gate's own interpreter, and what it shall install."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from buildloop.decode import from_toml
from buildloop.text import one_line

REQUIREMENT_FILES = (
    "requirements.txt",
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "test-requirements.txt",
)
TEST_EXTRAS = ("dev", "test", "tests", "testing")
# Whatever else stands there would be an option of pip's requirement files.
REQUIREMENT = re.compile(r"[A-Za-z0-9]")
# Settings of the user's shell that forbid or redirect an install into a folder.
PIP_SETTINGS = {"PIP_REQUIRE_VIRTUALENV": "0", "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
PROBE_SECONDS = 30


class ManifestError(ValueError):
    """A manifest that an agent has left in pieces."""


def pip_install(environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """The words before an install's arguments. Packages must fit the interpreter that the gate will find.

    That one may have no pip: uv, or the pip of another interpreter, can then install for it.
    """
    path = environment.get("PATH")
    own = shutil.which("python", path=path) or shutil.which("python3", path=path) or sys.executable
    uv = shutil.which("uv", path=path) or shutil.which("uv", path=str(Path(sys.executable).parent))
    others = [shutil.which("python3", path=path), sys.executable]
    installers = [
        (own, "-m", "pip", "install"),
        *([(uv, "pip", "install", "--python", own)] if uv else []),
        *((other, "-m", "pip", "--python", own, "install") for other in others if other and other != own),
    ]
    return next((words for words in installers if _works(words, environment)), None)


def _works(installer: Sequence[str], environment: Mapping[str, str]) -> bool:
    try:
        ran = subprocess.run(
            [*installer, "--help"],
            env=dict(environment),
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0


def requirements(folder: Path, marker: str, target: Path) -> list[str]:
    """The arguments that name what is to be installed; a list taken from a pyproject.toml is left in `target`."""
    if marker == "requirements.txt":
        return [word for name in REQUIREMENT_FILES if (folder / name).is_file() for word in ("-r", name)]
    if marker == "pyproject.toml" and (declared := declared_in(folder / marker)) is not None:
        listing = target / "requirements.txt"
        listing.write_text("".join(f"{line}\n" for line in declared), encoding="utf-8")
        return ["-r", str(listing)]
    return ["."]


def declared_in(pyproject: Path) -> list[str] | None:
    """The project's dependencies and those of its tests; None where only building it can tell them.

    The project itself is left out: the gate shall see the workspace, not a copy of it.
    """
    try:
        told = from_toml(pyproject.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ManifestError(f"{pyproject.name} cannot be read: {one_line(str(error))}") from None
    project = _table(told, "project")
    if "dependencies" in _list(project, "dynamic"):
        return None
    groups = (_table(project, "optional-dependencies"), _table(told, "dependency-groups"))
    extra = [line for group in groups for name in TEST_EXTRAS for line in _list(group, name)]
    lines = [*_list(project, "dependencies"), *extra]
    return list(dict.fromkeys(line for line in lines if isinstance(line, str) and REQUIREMENT.match(line)))


def _table(told: Mapping[str, Any], name: str) -> dict[str, Any]:
    return found if isinstance(found := told.get(name), dict) else {}


def _list(told: Mapping[str, Any], name: str) -> list[Any]:
    return found if isinstance(found := told.get(name), list) else []
