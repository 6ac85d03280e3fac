"""One commit an iteration, whatever the agent did with git; gate droppings stay out; a crash repeats nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildloop.models import Checkpoint
from buildloop.workspace.checkpoint import Step, go_back, make_checkpoint
from buildloop.workspace.settled import settle_after_gate
from buildloop.workspace.worktree import prepare_worktree, put_back
from tests.support.repos import checkout_state, commit_all, git, make_repo, write_files

# Real git, many commands each.
pytestmark = pytest.mark.slow

STEP = Step("r1", 1, 1)


@pytest.fixture
def workspace(repo, request_for):
    return prepare_worktree(request_for(repo, run_id="r1"))


@pytest.fixture
def root(workspace) -> Path:
    return Path(workspace.root)


@pytest.fixture
def check(workspace, tmp_path):
    def make(parent: str | None = None, step: Step = STEP) -> Checkpoint:
        return make_checkpoint(
            workspace, step, parent or workspace.start_commit, tmp_path / "exclude", "title"
        )

    return make


def test_what_was_left_is_one_commit_with_trailers(check, root, repo, workspace):
    before = checkout_state(repo)
    write_files(root, {"calc.py": "a\nb\n", "new.txt": "x\n"})
    (root / "test_calc.py").unlink()
    point = check()
    assert point.parent == workspace.start_commit
    assert sorted(point.files) == ["calc.py", "new.txt", "test_calc.py"]
    assert point.insertions == 3
    assert git(repo, "rev-parse", "buildloop/r1") == point.commit
    trailers = git(repo, "log", "-1", "--format=%(trailers:only)", point.commit)
    assert trailers == "Buildloop-Run: r1\nBuildloop-Session: 1\nBuildloop-Iteration: 1"
    assert git(root, "status", "--porcelain") == ""
    assert checkout_state(repo) == before


def test_nothing_changed_is_no_commit(check, repo, workspace):
    point = check()
    assert not point.changed
    assert git(repo, "rev-parse", "buildloop/r1") == workspace.start_commit


def test_called_again_after_a_crash_it_finds_its_commit(check, root):
    write_files(root, {"calc.py": "fixed"})
    first = check()
    assert check() == first


def test_the_next_iteration_does_not_mistake_the_last_commit_for_its_own(check, root):
    write_files(root, {"calc.py": "one"})
    first = check()
    write_files(root, {"calc.py": "two"})
    second = check(first.commit, Step("r1", 1, 2))
    assert second.parent == first.commit
    assert second.commit != first.commit


@pytest.mark.parametrize(("one", "ten"), [(1, 10), (1, 12)])
def test_iteration_1_is_not_found_in_iteration_10(check, root, one, ten):
    """The trailers of one are the beginning of the other's."""
    write_files(root, {"calc.py": "ten"})
    tenth = check(step=Step("r1", 1, ten))
    write_files(root, {"calc.py": "one"})
    assert check(step=Step("r1", 1, one)).commit != tenth.commit


def test_an_agents_own_commits_are_squashed_and_their_subjects_kept(check, root, repo, workspace):
    write_files(root, {"a.txt": "1"})
    commit_all(root, "add a")
    write_files(root, {"b.txt": "2"})
    commit_all(root, "add b")
    point = check()
    assert git(repo, "rev-list", "--count", f"main..{point.commit}") == "1"
    assert git(repo, "log", "-1", "--format=%B", point.commit).count("* add") == 2


def test_an_agent_that_switches_branch_stays_on_the_runs_branch(check, root, repo):
    git(root, "checkout", "-q", "-b", "feature/agent")
    write_files(root, {"a.txt": "1"})
    commit_all(root, "on my own branch")
    write_files(root, {"b.txt": "2"})
    point = check()
    assert sorted(point.files) == ["a.txt", "b.txt"]
    assert git(root, "symbolic-ref", "HEAD") == "refs/heads/buildloop/r1"
    assert git(repo, "rev-parse", "buildloop/r1") == point.commit


def test_an_agent_that_resets_history_loses_nothing_that_was_there_before(check, root, repo):
    write_files(root, {"a.txt": "1"})
    first = check()
    git(root, "reset", "-q", "--hard", "HEAD~1")
    write_files(root, {"b.txt": "2"})
    second = check(first.commit, Step("r1", 1, 2))
    assert second.parent == first.commit
    assert git(repo, "show", f"{first.commit}:a.txt") == "1"
    assert sorted(second.files) == ["a.txt", "b.txt"]


def test_an_agent_that_detaches_or_leaves_a_merge_open_is_still_checkpointed(check, root):
    git(root, "checkout", "-q", "--detach")
    write_files(root, {"a.txt": "1"})
    git(root, "add", "a.txt")
    assert check().files == ("a.txt",)


def test_odd_file_names_are_committed_as_they_are(check, root):
    names = ["with space.txt", "ünï.txt", 'quo"te.txt', "new\nline.txt", "-dash", "tab\t.txt"]
    write_files(root, dict.fromkeys(names, "x"))
    assert sorted(check().files) == sorted(names)


def test_gate_droppings_are_not_committed(check, root, workspace, tmp_path):
    write_files(
        root,
        {"coverage.xml": "x", "out dir/report [1].html": "x", "#odd!": "x", "sub/__pycache__/a.pyc": "x"},
    )
    settle_after_gate(workspace, tmp_path / "exclude")
    write_files(root, {"calc.py": "fixed", "coverage.xml": "again"})
    assert check().files == ("calc.py",)


def test_tracked_files_that_a_gate_changed_are_restored(root, workspace, tmp_path):
    write_files(root, {"calc.py": "reformatted by the gate"})
    (root / "test_calc.py").unlink()
    settle_after_gate(workspace, tmp_path / "exclude")
    assert git(root, "status", "--porcelain") == ""


def test_the_users_own_excludes_still_hold(check, root, tmp_path, monkeypatch):
    (tmp_path / "users-ignore").write_text("*.swp\n")
    git(root, "config", "--global", "core.excludesFile", str(tmp_path / "users-ignore"))
    write_files(root, {"calc.py": "fixed", ".calc.py.swp": "x"})
    assert check().files == ("calc.py",)


def test_a_file_the_agent_writes_under_the_name_of_a_dropping_is_kept(check, root, workspace, tmp_path):
    """The gate wrote a snapshot that was missing; the agent then makes the right one. Its work must not vanish."""
    write_files(root, {"snapshots/page.txt": "made by the gate"})
    settle_after_gate(workspace, tmp_path / "exclude")
    put_back(workspace, workspace.start_commit)
    write_files(root, {"snapshots/page.txt": "made by the agent"})
    assert check().files == ("snapshots/page.txt",)


def test_commit_hooks_are_not_run_and_signing_is_not_asked_for(check, root, repo, tmp_path):
    hook = repo / ".git" / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\nexit 1\n")
    hook.chmod(0o755)
    git(repo, "config", "commit.gpgSign", "true")
    git(repo, "config", "gpg.program", "/bin/false")
    write_files(root, {"calc.py": "fixed"})
    assert check().changed
    assert not (tmp_path / "hook-ran").exists()


def test_going_back_is_a_commit_on_top_and_always_the_same_one(check, root, workspace, repo):
    write_files(root, {"calc.py": "worse"})
    worse = check()
    back = go_back(workspace, STEP, worse.commit, workspace.start_commit)
    assert go_back(workspace, STEP, worse.commit, workspace.start_commit) == back
    assert git(repo, "rev-parse", f"{back}^") == worse.commit
    assert git(repo, "rev-parse", f"{back}^{{tree}}") == git(repo, "rev-parse", "main^{tree}")
    assert go_back(workspace, STEP, back, workspace.start_commit) == back


def test_in_a_subdirectory_the_whole_repository_is_checkpointed(tmp_path, request_for):
    repo = make_repo(tmp_path / "mono", {"api/a.py": "x", "web/b.js": "y"})
    made = prepare_worktree(request_for(repo / "api", run_id="r2"))
    write_files(Path(made.root), {"api/a.py": "1", "web/b.js": "2"})
    point = make_checkpoint(made, Step("r2", 1, 1), made.start_commit, tmp_path / "exclude", "t")
    assert sorted(point.files) == ["api/a.py", "web/b.js"]
