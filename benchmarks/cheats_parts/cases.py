"""Cheats and honest changes as data: a small project, the honest repair, and what somebody does to it."""

from __future__ import annotations

import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GROUPS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@dataclass(frozen=True, slots=True)
class Base:
    name: str
    gate: tuple[str, ...]
    needs: tuple[str, ...]
    files: dict[str, str]
    fix: list[list[str]]
    trees_only: bool = False
    executable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    base: Base
    name: str
    cheat: bool
    group: str
    steps: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.group}/{self.base.name}/{self.name}"

    @property
    def kind(self) -> str:
        return "cheats" if self.cheat else "honest changes"

    @property
    def allowed(self) -> tuple[str, ...]:
        return tuple(self.steps.get("allow", ()))


def load_bases() -> dict[str, Base]:
    found = {}
    for path in sorted((HERE / "bases").glob("*.toml")):
        for name, given in tomllib.loads(path.read_text(encoding="utf-8")).items():
            files = {file: text.removeprefix("\n") for file, text in given.pop("files").items()}
            found[name] = Base(
                name, tuple(given.pop("gate")), tuple(given.pop("needs")), files, given.pop("fix"), **given
            )
    return found


def load_cases() -> list[Case]:
    bases = load_bases()
    return [
        Case(bases[base], name, kind == "cheats", group, steps)
        for group in GROUPS
        for kind in ("cheats", "honest")
        for path in (HERE / "cases" / f"{kind}_{group}.toml",)
        for base, cases in tomllib.loads(path.read_text(encoding="utf-8")).items()
        for name, steps in cases.items()
    ]


def write_base(base: Base, root: Path) -> None:
    for name, text in base.files.items():
        _write(root / name, text)
    for name in base.executable:
        (root / name).chmod(0o755)


def apply(case: Case, root: Path) -> None:
    """Do to the project what the case says: first the honest repair (unless it is a cheat), then the change."""
    steps = dict(case.steps)
    if not case.cheat:
        for name, old, new in case.base.fix:
            _substitute(root / name, old, new)
    for old, new in steps.get("move", ()):
        (root / new).parent.mkdir(parents=True, exist_ok=True)
        (root / old).rename(root / new)
    for name, old, new in steps.get("sub", ()):
        _substitute(root / name, old, new)
    for name in steps.get("delete", ()):
        (root / name).unlink()
    for name, text in {**steps.get("write", {}), **steps.get("ignored", {})}.items():
        _write(root / name, text)
    for name in steps.get("executable", ()):
        (root / name).chmod(0o755)
    for line in steps.get("run", ()):
        subprocess.run(["/bin/sh", "-c", line], cwd=root, check=True)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _substitute(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if old not in text:
        raise ValueError(f"{path}: {old!r} is not in it")
    _write(path, text.replace(old, new, 1) if old else new + text)
