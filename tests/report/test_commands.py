"""The commands in a report, typed into a shell: each does what it says."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from buildloop.models import WorkspaceInfo
from buildloop.report.commands import commands_for
from buildloop.request import DirtyPolicy
from buildloop.workspace.worktree import prepare_worktree
from tests.support import runs
from tests.support.repos import GREEN, commit_all, git, make_repo

FIXED = GREEN["calc.py"]


@pytest.fixture
def ran(tmp_path, request_for):
    """A run that fixed the code, in a repository whose path and branch need quoting. The worktree is still there."""

    def make(dirty: DirtyPolicy = DirtyPolicy.REFUSE) -> tuple[Path, WorkspaceInfo]:
        repo = make_repo(
            tmp_path / "my 'odd' repo", GREEN | {"calc.py": "def add(a, b):\n    return a - b\n"}
        )
        if dirty is DirtyPolicy.INCLUDE:
            (repo / "notes.txt").write_text("mine\n")
        made = prepare_worktree(request_for(repo, branch="fix/$(touch-me)&co", dirty=dirty))
        Path(made.workdir, "calc.py").write_text(FIXED)
        commit_all(Path(made.root), "buildloop: iteration 1")
        return repo, made

    return make


def typed(
    workspace: WorkspaceInfo, facts, where: Path, dirty: DirtyPolicy = DirtyPolicy.REFUSE
) -> dict[str, str]:
    request = facts.request.model_copy(update={"dirty": dirty})
    return {one.what: one.line for one in commands_for(replace(facts, workspace=workspace, request=request))}


def shell(line: str, where: Path) -> str:
    return subprocess.run(line, shell=True, cwd=where, check=True, capture_output=True, text=True).stdout


def test_review_shows_what_the_run_changed_from_any_directory(ran, tmp_path):
    _, workspace = ran()
    lines = typed(workspace, runs.complete(), tmp_path)
    assert "+    return a + b" in shell(lines["Review"], tmp_path)


def test_merge_merges(ran, tmp_path):
    repo, workspace = ran()
    shell(typed(workspace, runs.complete(), tmp_path)["Merge"], tmp_path)
    assert (repo / "calc.py").read_text() == FIXED


def test_undo_of_a_complete_run_leaves_no_branch(ran, tmp_path):
    repo, workspace = ran()
    git(repo, "worktree", "remove", "--force", workspace.root)
    shell(typed(workspace, runs.complete(), tmp_path)["Undo"], tmp_path)
    assert git(repo, "branch", "--format", "%(refname:short)") == "main"


@pytest.mark.parametrize("kept", [True, False])
def test_undo_of_a_stopped_run_also_drops_its_workspace(ran, tmp_path, kept):
    repo, workspace = ran()
    if not kept:
        shutil.rmtree(workspace.root)
        git(repo, "worktree", "prune")
    shell(typed(workspace, runs.cancelled(), tmp_path)["Undo"], tmp_path)
    assert git(repo, "branch", "--format", "%(refname:short)") == "main"
    assert not Path(workspace.root).exists()


def test_merge_of_a_run_that_began_with_uncommitted_changes_keeps_them(ran, tmp_path):
    repo, workspace = ran(DirtyPolicy.INCLUDE)
    shell(typed(workspace, runs.complete(), tmp_path, DirtyPolicy.INCLUDE)["Merge"], tmp_path)
    assert (repo / "calc.py").read_text() == FIXED
    assert (repo / "notes.txt").read_text() == "mine\n"


def test_a_running_run_offers_only_to_look(ran, tmp_path):
    _, workspace = ran()
    assert set(typed(workspace, replace(runs.complete(), running=True, result=None), tmp_path)) == {"Review"}
