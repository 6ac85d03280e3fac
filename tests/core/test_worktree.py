"""The run's own worktree: made beside the user's checkout, found again, put back, given free."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from buildloop.errors import InputError
from buildloop.workspace.worktree import prepare_worktree, put_back, release, reopen
from tests.support.repos import checkout_state, commit_all, git, make_repo, write_files

# Real git, many commands each.
pytestmark = pytest.mark.slow


@pytest.fixture
def prepared(repo, request_for):
    return prepare_worktree(request_for(repo, run_id="r1"))


def test_the_workspace_is_a_worktree_on_its_own_branch(repo, request_for, tmp_path):
    before = checkout_state(repo)
    made = prepare_worktree(request_for(repo, run_id="r1"))
    assert made.branch == "buildloop/r1"
    assert Path(made.root) == tmp_path / "state" / "worktrees" / "r1"
    assert (Path(made.root) / "calc.py").read_text() == (repo / "calc.py").read_text()
    assert git(repo, "rev-parse", "buildloop/r1") == made.start_commit == git(repo, "rev-parse", "main")
    assert checkout_state(repo) == before


def test_two_runs_have_two_worktrees(repo, request_for):
    first = prepare_worktree(request_for(repo, run_id="r1"))
    second = prepare_worktree(request_for(repo, run_id="r2"))
    assert first.root != second.root
    write_files(Path(first.root), {"calc.py": "first"})
    assert "return a - b" in (Path(second.root) / "calc.py").read_text()


def test_made_again_it_is_the_same_workspace(repo, request_for, prepared):
    assert prepare_worktree(request_for(repo, run_id="r1")) == prepared


def test_a_branch_that_exists_is_refused(repo, request_for):
    git(repo, "branch", "mine")
    with pytest.raises(InputError, match="branch mine exists already"):
        prepare_worktree(request_for(repo, run_id="r1", branch="mine"))
    assert git(repo, "worktree", "list").count("\n") == 0


@pytest.mark.parametrize("name", ["-x", "a..b", "has space", "a/"])
def test_a_name_that_is_no_branch_is_refused(repo, request_for, name):
    with pytest.raises(InputError, match="not a valid branch name"):
        prepare_worktree(request_for(repo, run_id="r1", branch=name))


def test_a_request_for_a_subdirectory_works_there(tmp_path, request_for):
    repo = make_repo(tmp_path / "mono", {"services/api/a.py": "x", "b.py": "y"})
    made = prepare_worktree(request_for(repo / "services" / "api", run_id="r1"))
    assert Path(made.workdir) == Path(made.root) / "services" / "api"
    assert (Path(made.workdir) / "a.py").exists()


def test_put_back_undoes_everything_but_ignored_files(repo, request_for):
    write_files(repo, {".gitignore": "node_modules/\n"})
    commit_all(repo, "ignore")
    made = prepare_worktree(request_for(repo, run_id="r1"))
    root = Path(made.root)
    write_files(root, {"calc.py": "broken", "new/file.txt": "x", "node_modules/dep.js": "kept"})
    (root / "test_calc.py").unlink()
    git(root, "checkout", "-q", "-b", "elsewhere")
    commit_all(root, "the agent's own")
    put_back(made, made.start_commit)
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "symbolic-ref", "HEAD") == "refs/heads/buildloop/r1"
    assert "return a - b" in (root / "calc.py").read_text()
    assert not (root / "new").exists()
    assert (root / "node_modules" / "dep.js").read_text() == "kept"


def test_put_back_survives_the_lock_of_a_killed_git(prepared):
    root = Path(prepared.root)
    (Path(git(root, "rev-parse", "--absolute-git-dir")) / "index.lock").touch()
    put_back(prepared, prepared.start_commit)
    assert git(root, "status", "--porcelain") == ""


def test_put_back_drops_compiled_code_of_what_it_changes(prepared):
    """Same size, same second: Python would run the old bytecode."""
    root = Path(prepared.root)
    write_files(
        root, {"calc.py": "x", "__pycache__/calc.cpython-311.pyc": "old", ".gitignore": "__pycache__/\n"}
    )
    commit_all(root, "step")
    put_back(prepared, prepared.start_commit)
    assert not (root / "__pycache__" / "calc.cpython-311.pyc").exists()


def test_reopen_makes_a_lost_worktree_again(repo, prepared):
    """On another machine, or after somebody cleaned up, the commit is all that is needed."""
    shutil.rmtree(prepared.root)
    reopen(prepared, prepared.start_commit)
    assert git(Path(prepared.root), "symbolic-ref", "HEAD") == "refs/heads/buildloop/r1"
    assert (Path(prepared.root) / "calc.py").exists()


def test_after_the_run_the_branch_can_be_checked_out(repo, prepared):
    release(prepared, keep=True)
    git(repo, "checkout", "-q", "buildloop/r1")
    git(repo, "checkout", "-q", "main")
    release(prepared, keep=False)
    assert not Path(prepared.root).exists()
    assert git(repo, "worktree", "list").count("\n") == 0
    assert git(repo, "rev-parse", "buildloop/r1") == prepared.start_commit


def test_the_users_hooks_are_not_run(repo, request_for, tmp_path):
    """post-checkout would run in the user's name at every worktree."""
    for name in ("post-checkout", "pre-commit", "reference-transaction"):
        hook = repo / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
        hook.chmod(0o755)
    made = prepare_worktree(request_for(repo, run_id="r1"))
    put_back(made, made.start_commit)
    release(made, keep=False)
    assert not (tmp_path / "hook-ran").exists()


def test_a_branch_the_user_has_checked_out_is_not_moved_under_them(repo, prepared):
    """A stopped run's branch is free to look at; resuming meanwhile is refused and leaves that checkout as it is."""
    release(prepared, keep=True)
    git(repo, "checkout", "-q", "buildloop/r1")
    before = checkout_state(repo)
    with pytest.raises(InputError, match="is checked out in"):
        reopen(prepared, prepared.start_commit)
    assert checkout_state(repo) == before
