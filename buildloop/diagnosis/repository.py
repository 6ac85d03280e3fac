"""The names under which a project's own code can be imported, read from its files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

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
        yield from (path for path in _entries(repo / workspace) if path.is_dir())


def _importable(root: Path) -> Iterator[str]:
    """Source files without their suffix, and folders that hold source."""
    for path in _entries(root):
        if SOURCE_FILE.search(path.name):
            yield path.stem
        elif path.is_dir() and any(_holds_source(folder) for folder in (path, *_entries(path))):
            yield path.name


def _holds_source(folder: Path) -> bool:
    return any(SOURCE_FILE.search(path.name) for path in _entries(folder))


def _declared(project: Path) -> Iterator[str]:
    for manifest, pattern in DECLARED.items():
        path = project / manifest
        if path.is_file():
            yield from pattern.findall(path.read_text(encoding="utf-8", errors="replace"))[:20]


def _jvm_packages(project: Path) -> Iterator[str]:
    for root in JVM_ROOTS:
        for group in _entries(project / root):
            yield from (f"{group.name}.{part.name}" for part in _entries(group) if part.is_dir())


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    visible = (
        path for path in folder.iterdir() if not path.name.startswith(".") and path.name not in NOT_OURS
    )
    return sorted(islice(visible, MAX_ENTRIES))
