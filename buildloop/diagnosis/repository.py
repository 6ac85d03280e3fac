"""The names under which a project's own code can be imported, read from its files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePath

from buildloop.diagnosis.known_packages import words
from buildloop.diagnosis.ownership import SOURCE
from buildloop.patterns import Regex

# Folders whose children are imported by their own name, and folders that hold whole projects.
IMPORT_ROOTS = words("src lib app python source test tests spec t")
WORKSPACES = words("packages libs apps crates services modules projects")
JVM_ROOTS = ("src/main/java", "src/main/kotlin", "src/main/scala", "src/test/java", "src/test/kotlin")
NOT_OURS = words("node_modules target dist build __pycache__ vendor venv env site-packages")
DECLARED = {
    "go.mod": Regex(r"^module\s+(\S+)", re.M),
    "package.json": Regex(r'^\s*"name"\s*:\s*"([^"]+)"', re.M),
    "Cargo.toml": Regex(r'^name\s*=\s*"([^"]+)"', re.M),
    "pyproject.toml": Regex(r'^name\s*=\s*"([^"]+)"', re.M),
    "composer.json": Regex(r'"([A-Z]\w*)\\\\'),
}
SOURCE_FILE = Regex(rf"\.(?:{SOURCE})$")
MAX_ENTRIES = 2_000


def names_in_repository(repo: Path) -> frozenset[str]:
    names: set[str] = set()
    for project in _projects(repo):
        names.update(_declared(project), _jvm_packages(project))
        for root in (project, *(project / name for name in IMPORT_ROOTS)):
            names.update(_importable(root))
    return frozenset(names | {name.replace("-", "_") for name in names})


def _projects(repo: Path) -> Iterator[Path]:
    yield repo
    for workspace in WORKSPACES:
        yield from (Path(entry.path) for entry in _entries(repo / workspace) if entry.is_dir())


def _importable(root: Path) -> Iterator[str]:
    """Source files without their suffix, and folders that hold source."""
    for entry in _entries(root):
        if SOURCE_FILE.search(entry.name):
            yield PurePath(entry.name).stem
        elif entry.is_dir() and _holds_source(entry.path):
            yield entry.name


def _holds_source(folder: str) -> bool:
    """In it or in a folder of it."""
    inside = _entries(folder)
    if any(SOURCE_FILE.search(entry.name) for entry in inside):
        return True
    below = (_entries(entry.path) for entry in inside if entry.is_dir())
    return any(SOURCE_FILE.search(entry.name) for entries in below for entry in entries)


def _declared(project: Path) -> Iterator[str]:
    for manifest, pattern in DECLARED.items():
        path = project / manifest
        if path.is_file():
            yield from pattern.findall(path.read_text(encoding="utf-8", errors="replace"))[:20]


def _jvm_packages(project: Path) -> Iterator[str]:
    for root in JVM_ROOTS:
        for group in _entries(project / root):
            yield from (f"{group.name}.{part.name}" for part in _entries(group.path) if part.is_dir())


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    """Of a folder that can be read; nothing else has any."""
    try:
        with os.scandir(folder) as found:
            visible = (one for one in found if not one.name.startswith(".") and one.name not in NOT_OURS)
            return sorted(islice(visible, MAX_ENTRIES), key=lambda one: one.name)
    except OSError:
        return []
