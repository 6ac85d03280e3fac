"""Puts everything the agent left into the index, and says what that adds over a commit."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from git.exc import GitCommandError

from buildloop.workspace.droppings import excluding
from buildloop.workspace.git import run_git
from buildloop.workspace.integrity.hidden import clear_index_bits

LINK = "160000"


@dataclass(frozen=True, slots=True)
class Added:
    """What the index or a commit adds over another commit. `links` are repositories that are new in it."""

    files: tuple[str, ...]
    insertions: int
    deletions: int
    links: tuple[str, ...]


def stage(root: Path, parent: str, exclude: Path) -> Added:
    """New repositories inside the workspace become plain files: git would keep a link to them, not their content.
    A submodule, which `.gitmodules` names, stays one."""
    clear_index_bits(root)
    add = (*excluding(root, exclude), "add", "-A")
    try:
        run_git(root, *add)
    except GitCommandError:  # a repository without a commit cannot even be linked
        _flatten(root, *_untracked_folders(root, exclude))
        run_git(root, *add)
    found = added(root, parent)
    if links := [name for name in found.links if not _is_submodule(root, name)]:
        _flatten(root, *links)
        run_git(root, "update-index", "-z", "--force-remove", "--stdin", stdin="\0".join(links) + "\0")
        run_git(root, *add)
        found = added(root, parent)
    return found


def added(root: Path, parent: str, commit: str | None = None) -> Added:
    """Of `commit` over `parent`; without one, of the index."""
    what = (parent, commit) if commit else ("--cached", parent)
    options = ("--raw", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
    entries = [entry for entry in run_git(root, "diff", *options, *what).split("\0") if entry]
    links: list[str] = []
    while entries and entries[0].startswith(":"):
        before, now = entries[0][1:].split(" ")[:2]
        links += [entries[1]] if now == LINK and before != LINK else []
        entries = entries[2:]
    counted = [entry.split("\t", 2) for entry in entries]
    return Added(
        files=tuple(name for _, _, name in counted),
        insertions=sum(int(plus) for plus, _, _ in counted if plus.isdigit()),
        deletions=sum(int(minus) for _, minus, _ in counted if minus.isdigit()),
        links=tuple(links),
    )


def _flatten(root: Path, *folders: str) -> None:
    for folder in folders:
        for inner in (root / folder).rglob(".git"):
            shutil.rmtree(inner) if inner.is_dir() else inner.unlink()


def _is_submodule(root: Path, name: str) -> bool:
    try:
        listed = (root / ".gitmodules").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    return any(line.partition("=")[2].strip() == name for line in listed.splitlines())


def _untracked_folders(root: Path, exclude: Path) -> list[str]:
    """Folders with nothing but new files."""
    listed = run_git(
        root, *excluding(root, exclude), "ls-files", "-z", "--others", "--exclude-standard", "--directory"
    )
    return [name for name in listed.split("\0") if name.endswith("/")]
