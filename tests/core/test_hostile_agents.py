"""What an agent may do to its own workspace without harm to the user's repository or to the run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from buildloop.workspace.checkpoint import Step, make_checkpoint
from buildloop.workspace.settled import settle_after_gate
from buildloop.workspace.worktree import prepare_worktree, reopen
from tests.support.repos import checkout_state, commit_all, git, write_files

# These wait for real processes to end or to be ended.
pytestmark = pytest.mark.slow

STEP = Step("r1", 1, 1)


@pytest.fixture
def workspace(repo, request_for):
    """The state directory lies inside the user's checkout: a lost link makes git find *that* repository."""
    write_files(repo, {".gitignore": ".state/\n"})
    commit_all(repo, "ignore the state")
    return prepare_worktree(request_for(repo, run_id="r1", state_dir=str(repo / ".state")))


def without_state(repo: Path) -> dict[str, str]:
    return {name: digest for name, digest in checkout_state(repo).items() if not name.startswith(".state")}


def remove_link(root: Path) -> None:
    (root / ".git").unlink()


def new_repository(root: Path) -> None:
    (root / ".git").unlink()
    git(root, "init", "-q")
    commit_all(root, "my own history")


def link_elsewhere(root: Path) -> None:
    (root / ".git").write_text(f"gitdir: {root.parents[2] / '.git'}\n")


def nonsense(root: Path) -> None:
    (root / ".git").write_text("nonsense\n")


@pytest.mark.parametrize("harm", [remove_link, new_repository, link_elsewhere, nonsense])
def test_a_broken_link_is_mended_and_the_users_checkout_stays(workspace, repo, tmp_path, harm):
    before, root = without_state(repo), Path(workspace.root)
    write_files(root, {"calc.py": "fixed\n"})
    harm(root)
    point = make_checkpoint(workspace, STEP, workspace.start_commit, tmp_path / "exclude", "t")
    assert point.files == ("calc.py",)
    assert git(repo, "rev-parse", "buildloop/r1") == point.commit
    assert git(repo, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert without_state(repo) == before


@pytest.mark.parametrize("harm", [remove_link, new_repository, link_elsewhere, nonsense])
def test_a_gate_that_breaks_the_link_does_no_harm_either(workspace, repo, tmp_path, harm):
    before, root = without_state(repo), Path(workspace.root)
    harm(root)
    settle_after_gate(workspace, tmp_path / "exclude")
    reopen(workspace, workspace.start_commit)
    assert git(root, "symbolic-ref", "HEAD") == "refs/heads/buildloop/r1"
    assert git(root, "status", "--porcelain") == ""
    assert without_state(repo) == before


def test_an_agent_that_deletes_its_workspace_has_deleted_every_file(workspace, repo, tmp_path):
    """That is what it left; the commit before it is still there."""
    before = without_state(repo)
    shutil.rmtree(workspace.root)
    point = make_checkpoint(workspace, STEP, workspace.start_commit, tmp_path / "exclude", "t")
    assert git(repo, "ls-tree", "-r", "--name-only", point.commit) == ""
    assert point.parent == workspace.start_commit
    assert without_state(repo) == before


@pytest.mark.parametrize("lock", ["index.lock", "HEAD.lock", "../../refs/heads/buildloop/r1.lock"])
def test_a_lock_left_by_a_killed_git_does_not_stop_the_checkpoint(workspace, tmp_path, lock):
    """An agent that is stopped at its time limit may have been in the middle of a commit."""
    root = Path(workspace.root)
    (Path(git(root, "rev-parse", "--absolute-git-dir")) / lock).touch()
    write_files(root, {"calc.py": "fixed\n"})
    assert make_checkpoint(workspace, STEP, workspace.start_commit, tmp_path / "exclude", "t").changed


def test_hooks_an_agent_installs_are_not_run(workspace, repo, tmp_path):
    hook = repo / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    write_files(Path(workspace.root), {"calc.py": "fixed\n"})
    point = make_checkpoint(workspace, STEP, workspace.start_commit, tmp_path / "exclude", "t")
    reopen(workspace, point.commit)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("committed", [True, False])
def test_a_repository_inside_the_workspace_is_committed_as_files(workspace, repo, tmp_path, committed):
    """Project generators run `git init`; what they made must be in the result, not a dangling link to it."""
    app = Path(workspace.root) / "web" / "app"
    write_files(app, {"index.js": "x"})
    git(app, "init", "-q")
    if committed:
        commit_all(app, "generated")
    point = make_checkpoint(workspace, STEP, workspace.start_commit, tmp_path / "exclude", "t")
    assert git(repo, "show", f"{point.commit}:web/app/index.js") == "x"
    assert point.files == ("web/app/index.js",)


def test_a_submodule_that_the_agent_adds_is_committed_as_files_too(workspace, repo, tmp_path):
    """As a link it would be a repository with settings of the agent's in every later call of ours."""
    root = Path(workspace.root)
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "sub")
    point = make_checkpoint(workspace, STEP, workspace.start_commit, tmp_path / "exclude", "t")
    assert git(repo, "ls-tree", point.commit, "sub").startswith("040000 tree")
    assert not (root / "sub" / ".git").exists()
