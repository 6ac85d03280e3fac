"""Repositories that are hard to handle: odd names, links in circles, filters, names alike but for their case."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from buildloop.gate.run import GateSetup, run_gate
from buildloop.models import Checkpoint, Verdict
from buildloop.redact import redactor
from buildloop.workspace.checkpoint import Step, make_checkpoint
from buildloop.workspace.worktree import prepare_worktree, reopen
from tests.support.repos import commit_all, git

STEP = Step("r1", 1, 1)


def names_in(repo: Path, commit: str) -> set[bytes]:
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "-z", "--name-only", commit], cwd=repo, check=True, capture_output=True
    )
    return set(filter(None, listed.stdout.split(b"\0")))


@pytest.fixture
def checkpoint(tmp_path):
    def make(workspace) -> Checkpoint:
        return make_checkpoint(workspace, STEP, workspace.start_commit, tmp_path / "exclude", "t")

    return make


def test_names_that_are_no_utf8_are_committed_and_put_back(repo, request_for, checkpoint):
    """In the user's repository and from the agent; the checkpoint is a value that survives its own JSON."""
    odd = [b"\xff\xfe.py", b"new\nline.py", b"-rf", b"--help", b"a\xc3.txt"]
    Path(os.fsdecode(os.fsencode(repo) + b"/old\xff.py")).write_text("x\n")
    commit_all(repo, "odd")
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    root = os.fsencode(workspace.root)
    for name in odd:
        Path(os.fsdecode(root + b"/" + name)).write_text("agent\n")
    point = checkpoint(workspace)
    assert Checkpoint.model_validate_json(point.model_dump_json()) == point
    assert len(point.files) == len(odd)
    assert {*odd, b"old\xff.py"} <= names_in(repo, point.commit)
    reopen(workspace, workspace.start_commit)
    left = {os.fsencode(path.name) for path in Path(workspace.root).iterdir()}
    assert b"old\xff.py" in left
    assert not left & set(odd)


def test_links_in_circles_are_links(repo, request_for, checkpoint, tmp_path):
    (repo / "a").symlink_to("b")
    (repo / "b").symlink_to("a")
    (repo / "here").symlink_to(".")
    commit_all(repo, "circles")
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    root = Path(workspace.root)
    (root / "self").symlink_to("self")
    (root / "up").symlink_to("..")
    setup = GateSetup(
        root, tmp_path, tmp_path / "out", os.environ, 60, "m", redactor({}), "id", tmp_path, ("**/*.xml",)
    )
    assert run_gate(["true"], setup, "tree").verdict is Verdict.PASSED
    point = checkpoint(workspace)
    assert set(point.files) == {"self", "up"}
    assert git(repo, "cat-file", "-p", f"{point.commit}:self") == "self"


def test_names_that_differ_in_case_only_stay_two_files(repo, request_for, checkpoint):
    (repo / "Name.txt").write_text("big\n")
    (repo / "name.txt").write_text("small\n")
    commit_all(repo, "case")
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    (Path(workspace.root) / "NAME.txt").write_text("agent\n")
    point = checkpoint(workspace)
    assert point.files == ("NAME.txt",)
    assert {b"Name.txt", b"name.txt", b"NAME.txt"} <= names_in(repo, point.commit)


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4" * 64 + "\nsize 12345\n"


def test_a_large_file_that_was_not_fetched_stays_its_pointer(repo, request_for, checkpoint):
    (repo / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (repo / "model.bin").write_text(POINTER)
    commit_all(repo, "pointer")
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    root = Path(workspace.root)
    assert (root / "model.bin").read_text() == POINTER
    (root / "calc.py").write_text("fixed\n")
    point = checkpoint(workspace)
    assert point.files == ("calc.py",)
    assert git(repo, "show", f"{point.commit}:model.bin") + "\n" == POINTER


def test_with_a_filter_the_agent_sees_content_and_the_commit_has_the_pointer(repo, request_for, checkpoint):
    turn = f'{sys.executable} -c "import sys; print(sys.stdin.read().strip()[::-1])"'
    git(repo, "config", "filter.lfs.clean", turn)
    git(repo, "config", "filter.lfs.smudge", turn)
    git(repo, "config", "filter.lfs.required", "true")
    (repo / ".gitattributes").write_text("*.bin filter=lfs -text\n")
    (repo / "model.bin").write_text("content\n")
    commit_all(repo, "filtered")
    assert git(repo, "show", "HEAD:model.bin") == "tnetnoc"
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    path = Path(workspace.root) / "model.bin"
    assert path.read_text() == "content\n"
    path.write_text("better\n")
    point = checkpoint(workspace)
    assert point.files == ("model.bin",)
    assert git(repo, "show", f"{point.commit}:model.bin") == "retteb"
