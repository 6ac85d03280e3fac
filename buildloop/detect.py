"""Finds out how a repository is tested, from the files that say so."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAKE_TEST = re.compile(r"^(test|check)\s*:", re.M)
NPM_PLACEHOLDER = "no test specified"
NODE_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn"}
# They keep the project's packages in an environment of their own, which a bare `python` does not see.
PYTHON_LOCKS = {"uv.lock": "uv", "poetry.lock": "poetry"}


@dataclass(frozen=True, slots=True)
class Detected:
    """A command that tests the repository, and the file that shows it."""

    tool: str
    command: str
    because: str


def detect_tests(repo: Path) -> list[Detected]:
    """Every way we can see to test `repo`, the most specific first."""
    finders = (_pytest, _node, _cargo, _go, _maven, _gradle, _unittest, _make)
    return [found for finder in finders for found in finder(repo)]


def _pytest(repo: Path) -> Iterator[Detected]:
    marks = {
        "pytest.ini": "",
        "pyproject.toml": "[tool.pytest",
        "setup.cfg": "[tool:pytest]",
        "tox.ini": "[pytest]",
    }
    for name, mark in marks.items():
        if (repo / name).is_file() and mark in _read(repo / name):
            yield Detected("pytest", python_command(repo, "pytest -q"), name)
            return
    if (repo / "conftest.py").is_file() or (repo / "tests" / "conftest.py").is_file():
        yield Detected("pytest", python_command(repo, "pytest -q"), "conftest.py")


def python_command(repo: Path, module: str) -> str:
    """How to run a module here: by the tool that locked the project's packages, else by a Python on PATH."""
    for lock, tool in PYTHON_LOCKS.items():
        if (repo / lock).is_file() and shutil.which(tool):
            return f"{tool} run {'python -m ' if module.startswith('unittest') else ''}{module}"
    # Debian and its kin have only python3.
    python = "python3" if shutil.which("python") is None and shutil.which("python3") else "python"
    return f"{python} -m {module}"


def _node(repo: Path) -> Iterator[Detected]:
    if not (repo / "package.json").is_file():
        return
    try:
        script = json.loads(_read(repo / "package.json")).get("scripts", {}).get("test", "")
    except (ValueError, AttributeError):
        return
    if isinstance(script, str) and script and NPM_PLACEHOLDER not in script:
        tool = next((tool for lock, tool in NODE_LOCKS.items() if (repo / lock).is_file()), "npm")
        yield Detected(tool, f"{tool} test", "package.json")


def _cargo(repo: Path) -> Iterator[Detected]:
    if (repo / "Cargo.toml").is_file():
        yield Detected("cargo", "cargo test", "Cargo.toml")


def _go(repo: Path) -> Iterator[Detected]:
    if (repo / "go.mod").is_file():
        yield Detected("go", "go test ./...", "go.mod")


def _maven(repo: Path) -> Iterator[Detected]:
    if (repo / "pom.xml").is_file():
        wrapper = (repo / "mvnw").is_file()
        yield Detected("maven", "./mvnw -B test" if wrapper else "mvn -B test", "pom.xml")


def _gradle(repo: Path) -> Iterator[Detected]:
    for name in ("build.gradle", "build.gradle.kts"):
        if (repo / name).is_file():
            yield Detected(
                "gradle", "./gradlew test" if (repo / "gradlew").is_file() else "gradle test", name
            )
            return


def _unittest(repo: Path) -> Iterator[Detected]:
    """Python tests without any runner's configuration: the style of import tells which runner they want."""
    files = sorted(repo.glob("test_*.py")) + sorted(repo.glob("tests/**/test_*.py"))
    if not files or next(_pytest(repo), None) is not None:
        return
    name = files[0].relative_to(repo).as_posix()
    if "unittest" in _read(files[0]) and "pytest" not in _read(files[0]):
        yield Detected("unittest", python_command(repo, "unittest"), name)
    else:
        yield Detected("pytest", python_command(repo, "pytest -q"), name)


def _make(repo: Path) -> Iterator[Detected]:
    for name in ("Makefile", "makefile", "GNUmakefile"):
        if (repo / name).is_file() and (target := MAKE_TEST.search(_read(repo / name))):
            yield Detected("make", f"make {target.group(1)}", name)
            return


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
