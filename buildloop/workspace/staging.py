"""Puts everything the agent left into the index, and says what that adds over a commit."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from git.exc import GitCommandError

from buildloop.workspace.droppings import excluding
from buildloop.workspace.git import run_git, run_gits
from buildloop.workspace.integrity.hidden import clear_index_bits
from buildloop.workspace.pipes import drop_pipes
from buildloop.workspace.secret_scan import patch_of_index

LINK = "160000"
ADDED = ("diff", "--raw", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")


@dataclass(frozen=True, slots=True)
class Added:
    """What the index adds over a commit. `links` are repositories that are new in it."""

    files: tuple[str, ...]
    insertions: int
    deletions: int
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Staged:
    """The index: what it adds over a commit, its tree, and as a patch what of it could be a secret."""

    added: Added
    tree: str
    patch: IO[bytes]


def stage(root: Path, parent: str, exclude: Path) -> tuple[Staged, tuple[str, ...]]:
    """The index then, and the files that git cannot keep.

    New repositories inside the workspace become plain files, also where `.gitmodules` names them: git would keep a link
    to them, not their content, and go by their settings. The submodules of `parent` stay what they are."""
    left_out = stage_all(root, exclude)
    found = look_at_index(root, parent)
    if found.added.links:
        _flatten(root, *found.added.links)
        given = "\0".join(found.added.links) + "\0"
        run_git(root, "update-index", "-z", "--force-remove", "--stdin", stdin=given)
        left_out = stage_all(root, exclude)
        found = look_at_index(root, parent)
    return found, left_out


def look_at_index(root: Path, parent: str) -> Staged:
    """Three questions at once: each is asked in every iteration, and none needs the answer of another."""
    patch = tempfile.TemporaryFile()  # noqa: SIM115 (whoever looks at it closes it)
    with patch_of_index(root, parent, patch):
        listed, tree = run_gits(root, (*ADDED, "--cached", parent), ("write-tree",))
    return Staged(_added(listed), tree, patch)


def stage_all(root: Path, exclude: Path) -> tuple[str, ...]:
    """Stage whatever can be staged; the names of the rest, which is hardly ever there."""
    drop_pipes(root)
    submodules = clear_index_bits(root)
    options = excluding(root, exclude)
    # `git add` looks into submodules (a `git status` by their settings, filters included); their commit is enough.
    add = (*options, "add", "-A", "--", ".", *(f":(exclude,literal,top){name}" for name in submodules))
    try:
        run_git(root, *add)
    except GitCommandError:
        left_out = _stage_what_can_be(root, options, add, submodules)
    else:
        left_out = ()
    if submodules:
        _update(root, submodules)
    return left_out


def _stage_what_can_be(
    root: Path, options: Sequence[str], add: Sequence[str], submodules: Sequence[str]
) -> tuple[str, ...]:
    _flatten(root, *_unstaged(root, options, "--others", "--directory"))
    try:
        run_git(root, *add)
    except GitCommandError:
        wanted = ("--others", "--modified", "--deleted")
        names = [name for name in _unstaged(root, options, *wanted) if name not in submodules]
        refused = {*_update(root, names)}
        # Names that git keeps from the index for good (`.GIT`) it passes over without an error.
        refused |= {name for name in _unstaged(root, options, *wanted) if name in names}
        return tuple(sorted(refused))
    return ()


def _update(root: Path, names: Sequence[str]) -> list[str]:
    """Those that could not be staged, found by halving: one of them makes git drop all it was given."""
    if not names:
        return []
    given = "\0".join(names) + "\0"
    try:
        run_git(root, "update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=given)
    except GitCommandError:
        if len(names) == 1:
            return list(names)
        half = len(names) // 2
        return [*_update(root, names[:half]), *_update(root, names[half:])]
    return []


def _added(listed: str) -> Added:
    entries = [entry for entry in listed.split("\0") if entry]
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
            shutil.rmtree(inner) if inner.is_dir() and not inner.is_symlink() else inner.unlink()


def _unstaged(root: Path, options: Sequence[str], *which: str) -> list[str]:
    listed = run_git(root, *options, "ls-files", "-z", *which, "--exclude-standard")
    return [name for name in dict.fromkeys(listed.split("\0")) if name]
