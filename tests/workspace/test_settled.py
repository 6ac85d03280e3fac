"""What a gate left, and how long it is believed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from buildloop.workspace.checkpoint import Step, make_checkpoint
from buildloop.workspace.settled import arrive, leave, settle_after_gate
from buildloop.workspace.worktree import prepare_worktree, put_back
from tests.support.repos import git


@pytest.fixture
def workspace(repo, request_for):
    return prepare_worktree(request_for(repo))


def tracked(root: Path) -> Path:
    return root / git(root, "ls-files").splitlines()[0]


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_was_told_not_to_look_at_is_put_back_too(workspace, tmp_path, bit):
    file = tracked(Path(workspace.root))
    before = file.read_text()
    git(Path(workspace.root), "update-index", bit, file.name)
    file.write_text("the gate's own")
    settle_after_gate(workspace, tmp_path / "exclude")
    assert file.read_text() == before


def test_what_a_gate_installed_into_the_project_is_nobodys_work(workspace, tmp_path):
    root = Path(workspace.root)
    (root / "vendor").mkdir()
    (root / "vendor" / "lib.php").write_text("<?php")
    settle_after_gate(workspace, tmp_path / "exclude")
    (root / "work.txt").write_text("the agent's")
    point = make_checkpoint(
        workspace, Step("r", 1, 1), workspace.start_commit, tmp_path / "exclude", "iteration 1"
    )
    assert point.files == ("work.txt",)


def test_who_comes_while_the_worktree_is_cleaned_waits(workspace):
    root = Path(workspace.root)
    for number in range(3000):
        (root / f"left-{number % 50}").mkdir(exist_ok=True)
        (root / f"left-{number % 50}" / f"{number}.txt").touch()
    leave(workspace, workspace.start_commit, "mark", clean=False)
    put_back(workspace, workspace.start_commit)
    assert not list(root.glob("left-*"))


def test_nothing_is_looked_for_again_in_a_worktree_that_a_gate_has_just_left(workspace):
    leave(workspace, workspace.start_commit, "mark", clean=True)
    note = Path(workspace.root) / "note"
    note.touch()
    arrive(workspace, workspace.start_commit, "mark")
    assert note.exists(), "it was looked at although nothing ran"
    arrive(workspace, workspace.start_commit, "mark")
    assert not note.exists(), "known once, it is known for one step only"


def test_after_a_while_it_is_looked_at_again(workspace, monkeypatch):
    monkeypatch.setattr("buildloop.workspace.settled.BELIEVED_SECONDS", 0.0)
    leave(workspace, workspace.start_commit, "mark", clean=True)
    (Path(workspace.root) / "note").touch()
    arrive(workspace, workspace.start_commit, "mark")
    assert not (Path(workspace.root) / "note").exists()


def test_a_worktree_that_is_gone_is_made_again(workspace):
    leave(workspace, workspace.start_commit, "mark", clean=False)
    shutil.rmtree(workspace.root, ignore_errors=True)
    arrive(workspace, workspace.start_commit, "mark")
    assert tracked(Path(workspace.root)).exists()
