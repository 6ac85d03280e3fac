"""Commits and refs that the processes of a run write are those that git writes by itself."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from git.exc import GitCommandError

from buildloop.workspace.git import run_git
from buildloop.workspace.integrity.trees import blobs
from buildloop.workspace.kept_git import commit_tree, git_kept, move_ref
from buildloop.workspace.worktree import prepare_worktree
from tests.support.repos import git

MESSAGE = "iteration 1\n\nwörds, and bytes that are none: \udcff\n\nBuildloop-Run: r"


@pytest.fixture
def workspace(repo, request_for):
    return prepare_worktree(request_for(repo))


def without_dates(root: Path, commit: str) -> list[str]:
    shown = run_git(root, "cat-file", "commit", commit).splitlines()
    return [line.rsplit(" ", 2)[0] if line.startswith(("author", "committer")) else line for line in shown]


def test_a_commit_is_the_one_that_git_makes_of_the_same(workspace):
    root, start = Path(workspace.root), workspace.start_commit
    plain = commit_tree(root, workspace.start_tree, start, MESSAGE)
    with git_kept(root, Path(workspace.repo)):
        kept = commit_tree(root, workspace.start_tree, start, MESSAGE)
    assert without_dates(root, kept) == without_dates(root, plain)
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


def test_a_ref_is_moved_with_its_log(workspace):
    root, branch = Path(workspace.root), f"refs/heads/{workspace.branch}"
    with git_kept(root, Path(workspace.repo)):
        for number in range(2):
            commit = commit_tree(root, workspace.start_tree, workspace.start_commit, f"number {number}")
            move_ref(root, branch, commit)
            assert git(root, "rev-parse", branch) == commit
    assert len(git(root, "reflog", "show", branch).splitlines()) == 3


def test_a_process_that_was_killed_is_replaced(workspace):
    root = Path(workspace.root)
    with git_kept(root, Path(workspace.repo)):
        first = commit_tree(root, workspace.start_tree, workspace.start_commit, "one")
        for child in psutil.Process().children():
            if "hash-object" in child.cmdline():
                child.kill()
                child.wait()
        second = commit_tree(root, workspace.start_tree, first, "two")
    assert git(root, "rev-parse", f"{second}^") == first
    assert not [one for one in psutil.Process().children() if "hash-object" in one.cmdline()]


def test_what_git_refuses_is_an_error(workspace):
    root = Path(workspace.root)
    with git_kept(root, Path(workspace.repo)), pytest.raises(GitCommandError):
        move_ref(root, "refs/heads/no..name", workspace.start_commit)


def test_objects_are_read_also_after_the_reading_process_was_killed(workspace):
    root = Path(workspace.root)
    name = git(root, "ls-tree", "--name-only", "HEAD").splitlines()[0]
    with git_kept(root, Path(workspace.repo)):
        seen = []
        for _ in range(2):
            with blobs(root) as text:
                seen.append(text(f"HEAD:{name}"))
            for child in psutil.Process().children():
                if "cat-file" in child.cmdline():
                    child.kill()
                    child.wait()
    assert seen == [git(root, "show", f"HEAD:{name}") + "\n"] * 2
