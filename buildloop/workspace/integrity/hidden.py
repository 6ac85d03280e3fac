"""What a commit does not show: ignored files that a runner reads, and git's index bits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from buildloop.workspace.git import git_or_none, run_git
from buildloop.workspace.integrity.files import DEPENDENCY_FOLDER
from buildloop.workspace.integrity.makefiles import MAKEFILES
from buildloop.workspace.integrity.model import Objection
from buildloop.workspace.integrity.setting_files import is_config

SUBMODULE = "160000"
ALWAYS_LOADED = re.compile(r"(?:^|/)(?:sitecustomize|usercustomize)\.py$")
STEERING = re.compile(r"(?:^|/)(?:conftest|pytest|unittest)\.py$|(?:^|/)(?:spec_helper|test_helper)\.rb$")


def hidden_files(root: Path, untracked: Sequence[str] | None = None) -> list[Objection]:
    """Untracked files that steer a runner. `git clean` has removed those that are not ignored."""
    listed = run_git(root, "ls-files", "-z", "--others").split("\0") if untracked is None else untracked
    return [
        Objection(
            "hidden",
            name,
            f"{name} steers the test runner but is kept out of the commit (it is ignored by git)",
        )
        for name in listed
        if ALWAYS_LOADED.search(name) or (not DEPENDENCY_FOLDER.search(name) and _steers(name))
    ]


def _steers(name: str) -> bool:
    return (
        bool(STEERING.search(name))
        or (is_config(name) and not name.endswith((".env", ".envrc")))
        or name in MAKEFILES
    )


def clear_index_bits(root: Path) -> list[str]:
    """Undo `--skip-worktree` and `--assume-unchanged`: git would pass over the files' changes. Tells the submodules,
    which the same list shows."""
    listed = [entry for entry in run_git(root, "ls-files", "-v", "--stage", "-z").split("\0") if entry]
    names = [_name(entry) for entry in listed if passed_over(entry)]
    if names and git_or_none(root, "sparse-checkout", "list") is None:
        given = "\0".join(names) + "\0"
        run_git(root, "update-index", "-z", "--no-skip-worktree", "--stdin", stdin=given)
        run_git(root, "update-index", "-z", "--no-assume-unchanged", "--stdin", stdin=given)
    return [_name(entry) for entry in listed if entry[2:].startswith(f"{SUBMODULE} ")]


def passed_over(entry: str) -> bool:
    """Whether git was told not to look at the file of this line of `git ls-files -v`."""
    return entry[:1].islower() or entry.startswith("S")


def _name(entry: str) -> str:
    return entry.partition("\t")[2]
