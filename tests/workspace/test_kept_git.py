"""Commits and refs that the processes of a run write are those that git writes by itself."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import psutil
import pytest
from git.exc import GitCommandError

from buildloop.workspace.ahead import asked_meanwhile
from buildloop.workspace.checkpoint import DIFF
from buildloop.workspace.git import known_git, run_git
from buildloop.workspace.integrity.trees import blobs
from buildloop.workspace.kept_git import commit_tree, git_kept, move_ref
from buildloop.workspace.worktree import prepare_worktree
from tests.support.repos import git

MESSAGE = "iteration 1\n\nwörds, and bytes that are none: \udcff\n\nBuildloop-Run: r"


@pytest.fixture
def workspace(repo, request_for):
    return prepare_worktree(request_for(repo))


def helpers(name: str) -> list[psutil.Process]:
    """Ours that do this; children of other tests that ended have no words any more."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            found += [child] if name in child.cmdline() else []
    return found


def kill(name: str) -> None:
    (helper,) = helpers(name)
    helper.kill()
    helper.wait()


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
        kill("hash-object")
        second = commit_tree(root, workspace.start_tree, first, "two")
    assert git(root, "rev-parse", f"{second}^") == first
    assert helpers("hash-object") == []


def test_what_git_refuses_is_an_error(workspace):
    root = Path(workspace.root)
    with git_kept(root, Path(workspace.repo)), pytest.raises(GitCommandError, match=r"no\.\.name"):
        move_ref(root, "refs/heads/no..name", workspace.start_commit)


def test_objects_are_read_also_after_the_reading_process_was_killed(workspace):
    root = Path(workspace.root)
    name = git(root, "ls-tree", "--name-only", "HEAD").splitlines()[0]
    with git_kept(root, Path(workspace.repo)):
        seen = []
        for _ in range(2):
            with blobs(root) as text:
                seen.append(text(f"HEAD:{name}"))
            kill("cat-file")
    assert seen == [git(root, "show", f"HEAD:{name}") + "\n"] * 2


def test_a_process_that_was_stopped_holds_up_nothing(workspace, monkeypatch):
    monkeypatch.setattr("buildloop.workspace.kept_git.LONGEST_ANSWER", 0.5)
    root, branch = Path(workspace.root), f"refs/heads/{workspace.branch}"
    with git_kept(root, Path(workspace.repo)):
        first = commit_tree(root, workspace.start_tree, workspace.start_commit, "one")
        move_ref(root, branch, first)
        (helper,) = helpers("update-ref")
        helper.suspend()
        move_ref(root, branch, workspace.start_commit)
    assert git(root, "rev-parse", branch) == workspace.start_commit
    assert helpers("update-ref") == []


def test_what_is_asked_while_a_gate_runs_is_not_asked_in_its_reach(workspace):
    """A gate may write another `.git`, whose settings name programs, or a pipe where git looks for attributes."""
    root = Path(workspace.root)
    (root / "new.txt").write_text("new")
    git(root, "add", "-A")
    tree = git(root, "write-tree")
    with git_kept(root, Path(workspace.repo)):
        commit = commit_tree(root, tree, workspace.start_commit, "one")
        (root / ".git").write_text(f"gitdir: {root / 'elsewhere'}\n")
        os.mkfifo(root / ".gitattributes")
        with asked_meanwhile(root, (*DIFF, workspace.start_commit, commit)):
            pass
        assert "new.txt" in known_git(root, *DIFF, workspace.start_commit, commit)
