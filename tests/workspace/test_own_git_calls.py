"""Our git calls run outside of the sandbox: nothing an agent can write makes them run a program of its choice."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from buildloop.choices import SandboxKind
from buildloop.errors import InputError
from buildloop.sandbox import Sandbox, check_sandbox
from buildloop.workspace.checkpoint import Step, make_checkpoint
from buildloop.workspace.link import commit_folders, worktree_git_folder
from buildloop.workspace.settled import settle_after_gate
from buildloop.workspace.worktree import prepare_worktree, reopen
from tasks.surroundings import surroundings
from tests.support.repos import git, write_files

STEP = Step("r1", 1, 1)


@pytest.fixture
def workspace(repo, request_for):
    return prepare_worktree(request_for(repo, run_id="r1"))


@pytest.fixture
def root(workspace) -> Path:
    return Path(workspace.root)


@pytest.fixture
def own(workspace) -> Path:
    return worktree_git_folder(workspace)


@pytest.fixture
def trap(tmp_path) -> Path:
    """A program that leaves `caught` beside itself; as a filter it passes everything on."""
    program = tmp_path / "trap"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/caught\ncat\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def work(workspace, tmp_path):
    """Everything that comes after an agent's turn and after a gate."""

    def run() -> str:
        point = make_checkpoint(workspace, STEP, workspace.start_commit, tmp_path / "exclude", "t")
        reopen(workspace, point.commit)
        settle_after_gate(workspace, tmp_path / "exclude")
        reopen(workspace, workspace.start_commit)
        return point.commit

    return run


def set_trap(folder: Path, trap: Path, kind: str) -> None:
    """In a repository's settings, and in the workspace what makes git use them."""
    git(folder, "config", "-f", "config", kind, str(trap))


KINDS = ("core.fsmonitor", "filter.x.clean")


@pytest.mark.parametrize("kind", KINDS)
def test_settings_of_a_copy_that_the_worktree_is_turned_to_are_not_used(
    work, root, own, repo, trap, tmp_path, kind
):
    copy = root / ".venv" / "copy"
    copy.parent.mkdir()
    subprocess.run(["cp", "-r", repo / ".git", copy], check=True)
    set_trap(copy, trap, kind)
    write_files(root, {".gitattributes": "* filter=x\n", "calc.py": "fixed\n"})
    (own / "commondir").write_text(f"{copy}\n")
    commit = work()
    assert not (tmp_path / "caught").exists()
    assert git(repo, "show", f"{commit}:calc.py") == "fixed"


@pytest.mark.parametrize("link", [True, False])
def test_settings_of_the_worktree_alone_name_no_program(work, root, own, repo, trap, tmp_path, link):
    git(repo, "config", "extensions.worktreeConfig", "true")
    evil = f'[core]\n\tsparseCheckout = false\n[filter "x"]\n\tclean = {trap}\n'
    if link:
        (tmp_path / "evil").write_text(evil)
        (own / "config.worktree").symlink_to(tmp_path / "evil")
    else:
        (own / "config.worktree").write_text(evil)
    write_files(root, {".gitattributes": "* filter=x\n", "calc.py": "fixed\n"})
    work()
    assert not (tmp_path / "caught").exists()


def test_a_users_sparse_checkout_stays_one(repo, request_for, tmp_path):
    """Git writes it into the settings of the worktree."""
    write_files(repo, {"big/data.txt": "x\n"})
    git(repo, "add", "-A")
    git(repo, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "data")
    git(repo, "sparse-checkout", "set", "--no-cone", "/*", "!/big/")
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    root = Path(workspace.root)
    assert not (root / "big").exists()
    write_files(root, {"calc.py": "fixed\n"})
    point = make_checkpoint(workspace, STEP, workspace.start_commit, tmp_path / "exclude", "t")
    assert point.files == ("calc.py",)


def forget(own: Path) -> None:
    for file in (own / "gitdir", own / "HEAD"):
        file.write_text("nonsense\n")


def pipes(own: Path) -> None:
    for name in ("HEAD", "index", "logs/HEAD", "ORIG_HEAD"):
        (own / name).unlink(missing_ok=True)
        os.mkfifo(own / name)


def other_worktree(own: Path) -> None:
    (own / "gitdir").write_text("/nowhere/.git\n")


def prune(own: Path) -> None:
    for file in own.iterdir():
        file.unlink() if file.is_file() else subprocess.run(["rm", "-r", file], check=True)
    own.rmdir()


@pytest.mark.parametrize("harm", [forget, pipes, other_worktree, prune])
def test_the_worktrees_own_part_of_the_repository_is_set_right(workspace, root, own, repo, tmp_path, harm):
    write_files(root, {"calc.py": "fixed\n"})
    harm(own)
    point = make_checkpoint(workspace, STEP, workspace.start_commit, tmp_path / "exclude", "t")
    assert point.files == ("calc.py",)
    assert git(repo, "rev-parse", "buildloop/r1") == point.commit
    assert git(root, "symbolic-ref", "HEAD") == "refs/heads/buildloop/r1"


def test_a_confined_agent_cannot_write_to_the_users_other_worktrees(workspace, own, repo):
    assert own in commit_folders(workspace)
    assert repo / ".git" / "worktrees" not in commit_folders(workspace)


def _works() -> bool:
    try:
        check_sandbox(Sandbox(SandboxKind.BWRAP))
    except InputError:
        return False
    return True


@pytest.mark.skipif(not _works(), reason="bubblewrap is not installed or may not make namespaces here")
def test_in_the_sandbox_the_index_can_be_written_and_what_steers_git_cannot(
    workspace, root, own, repo, request_for
):
    sandbox = surroundings(request_for(repo, run_id="r1", sandbox="bwrap"), workspace, {}).sandbox

    def shell(line: str) -> int:
        return subprocess.run(sandbox.wrap(["/bin/sh", "-c", line], root, {}), check=False).returncode

    write_files(root, {"calc.py": "fixed\n"})
    assert shell("git rm -q --cached calc.py && git status") == 0
    for name in ("commondir", "gitdir"):
        before = (own / name).read_text()
        assert shell(f"echo x > {own}/{name}") != 0
        assert shell(f"rm -f {own}/{name}") != 0
        assert shell(f"touch {own}/x && mv {own}/x {own}/{name}") != 0
        assert (own / name).read_text() == before
