"""What git cannot keep is left out and told; it stops no checkpoint, resume or cancel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from buildloop.workspace.checkpoint import Step, make_checkpoint
from buildloop.workspace.settled import settle_after_gate
from buildloop.workspace.worktree import prepare_worktree, reopen
from tests.support.repos import git, make_repo, write_files


def reserved_folder(root: Path) -> tuple[str, ...]:
    write_files(root, {".GIT/x": "x"})
    return (".GIT/x",)


def reserved_name(root: Path) -> tuple[str, ...]:
    write_files(root, {"git~1": "x", "deep/GIT~1": "x"})
    return ("deep/GIT~1", "git~1")


def linked_gitmodules(root: Path) -> tuple[str, ...]:
    (root / ".gitmodules").symlink_to("calc.py")
    return (".gitmodules",)


def wrong_encoding(root: Path) -> tuple[str, ...]:
    write_files(root, {".gitattributes": "*.txt working-tree-encoding=UTF-16\n", "a.txt": "x\n"})
    return ("a.txt",)


def linked_repository(root: Path) -> tuple[str, ...]:
    inner = make_repo(root / "inner", {"f": "x"})
    (inner / ".git").rename(root / "moved")
    (inner / ".git").symlink_to("../moved")
    return ()


def pipes(root: Path) -> tuple[str, ...]:
    (root / "deep").mkdir()
    for name in (".gitignore", ".gitattributes", "deep/.gitignore", "pipe"):
        os.mkfifo(root / name)
    return ()


def unreadable(root: Path) -> tuple[str, ...]:
    write_files(root, {"closed.txt": "x", "folder/file.txt": "x"})
    (root / "closed.txt").chmod(0)
    (root / "folder").chmod(0o500)
    return ("closed.txt",)


HARMS = (
    reserved_folder,
    reserved_name,
    linked_gitmodules,
    wrong_encoding,
    linked_repository,
    pipes,
    pytest.param(unreadable, marks=pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")),
)


@pytest.mark.parametrize("harm", HARMS)
def test_the_rest_of_the_work_is_committed_and_the_run_goes_on(repo, request_for, tmp_path, harm):
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    root, parent = Path(workspace.root), workspace.start_commit
    for number in (1, 2):
        unkept = harm(root) if number == 1 else ()
        write_files(root, {"calc.py": f"{number}\n", f"new-{number}.py": "x\n"})
        (root / "test_calc.py").unlink(missing_ok=True)
        point = make_checkpoint(workspace, Step("r1", 1, number), parent, tmp_path / "exclude", "t")
        assert point.unkept == unkept
        assert git(repo, "show", f"{point.commit}:calc.py") == str(number)
        assert git(repo, "show", f"{point.commit}:new-{number}.py") == "x"
        assert "test_calc.py" not in git(repo, "ls-tree", "-r", "--name-only", point.commit)
        parent = point.commit
        settle_after_gate(workspace, tmp_path / "exclude")
        reopen(workspace, parent)
    reopen(workspace, workspace.start_commit)
    assert git(root, "status", "--porcelain") == ""
