"""What an agent commits with our trailers is still looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildloop.workspace.checkpoint import Rules, Step, make_checkpoint
from buildloop.workspace.unfinished import take_up_unfinished
from buildloop.workspace.worktree import prepare_worktree
from tests.support.repos import commit_all, git, write_files

STEP = Step("r1", 1, 1)
SECRET = "q7Zx-93kd-Lm20-vvTe"
RULES = Rules(("test_calc.py",), {"DEPLOY_TOKEN": SECRET})


@pytest.mark.parametrize("resumed", [True, False])
def test_a_commit_with_forged_trailers_is_scanned_and_protected_files_are_put_back(
    repo, request_for, tmp_path, resumed
):
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    root, start = Path(workspace.root), workspace.start_commit
    write_files(root, {"test_calc.py": "weakened\n", "key.txt": f"{SECRET}\n", "calc.py": "fixed\n"})
    commit_all(root, f"x\n\n{STEP.trailers}")
    if resumed:
        take_up_unfinished(workspace, STEP, start)
    point = make_checkpoint(workspace, STEP, start, tmp_path / "exclude", "t", RULES)
    assert point.files == ("calc.py",)
    assert point.restored == ("test_calc.py",)
    assert [one.file for one in point.refused] == ["key.txt"]
    assert git(repo, "show", f"{point.commit}:test_calc.py") == git(repo, "show", f"{start}:test_calc.py")
    assert git(repo, "rev-parse", "buildloop/r1") == point.commit
    again = make_checkpoint(workspace, STEP, start, tmp_path / "exclude", "t", RULES)
    assert again == point
