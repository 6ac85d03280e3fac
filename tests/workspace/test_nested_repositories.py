"""A repository inside the workspace has settings of its own; our git calls never go by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildloop.workspace.checkpoint import Step, make_checkpoint
from buildloop.workspace.settled import settle_after_gate
from buildloop.workspace.worktree import prepare_worktree, reopen
from tests.support.repos import commit_all, git, make_repo, write_files

KINDS = ("core.fsmonitor", "filter.x.clean")


@pytest.fixture
def trap(tmp_path) -> Path:
    program = tmp_path / "trap"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/caught\ncat\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def work(tmp_path):
    def run(workspace):
        parent = workspace.start_commit
        for number in (1, 2):
            write_files(Path(workspace.root), {"calc.py": f"{number}\n"})
            point = make_checkpoint(workspace, Step("r1", 1, number), parent, tmp_path / "exclude", "t")
            parent = point.commit
            settle_after_gate(workspace, tmp_path / "exclude")
            reopen(workspace, parent)
        reopen(workspace, workspace.start_commit)
        return point

    return run


def arm(sub: Path, trap: Path, kind: str) -> None:
    """The index no longer knows whether `q` is as it was: git has to look, and runs what is set for that."""
    git(sub, "config", kind, str(trap))
    (sub / "q").write_text("q\n")


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_the_agent_names_a_submodule_becomes_files(repo, request_for, work, trap, tmp_path, kind):
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    root = Path(workspace.root)
    sub = make_repo(root / "sub", {"q": "q\n", ".gitattributes": "q filter=x\n"})
    write_files(root, {".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = ./x\n\tignore = none\n'})
    arm(sub, trap, kind)
    point = work(workspace)
    assert not (tmp_path / "caught").exists()
    assert git(repo, "show", f"{point.commit}:sub/q") == "q"


@pytest.mark.parametrize("kind", KINDS)
def test_a_submodule_that_was_there_stays_one_and_only_its_commit_is_looked_at(
    repo, request_for, work, trap, tmp_path, kind
):
    other = make_repo(tmp_path / "other", {"q": "q\n", ".gitattributes": "q filter=x\n"})
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    commit_all(repo, "with a submodule")
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    root = Path(workspace.root)
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    git(root, "config", "-f", ".gitmodules", "submodule.sub.ignore", "none")
    newer = commit_all_in(root / "sub")
    arm(root / "sub", trap, kind)
    point = work(workspace)
    assert not (tmp_path / "caught").exists()
    assert git(repo, "rev-parse", f"{point.commit}:sub") == newer


def commit_all_in(sub: Path) -> str:
    write_files(sub, {"new": "x\n"})
    return commit_all(sub, "newer")
