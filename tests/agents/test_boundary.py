"""What a confined agent can do to the repository its worktree belongs to: commit, and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from buildloop.agents.boundaries import confined
from buildloop.agents.confine import can_confine
from buildloop.workspace.link import commit_folders
from buildloop.workspace.worktree import prepare_worktree
from tests.support.calls import agent_call
from tests.support.repos import checkout_state, git

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not can_confine(), reason="this kernel has no Landlock"),
]
WORK = """
echo fixed > calc.py && git add -A && git -c user.name=a -c user.email=a@b commit -qm mine && git stash list
git config user.name Mallory; echo evil > {git}/hooks/pre-commit; echo x > {repo}/calc.py; rm -f {repo}/test_calc.py
true
"""


def test_it_commits_in_its_worktree_and_changes_nothing_else(repo, request_for, tmp_path, monkeypatch):
    # Everybody's folders are writable, and this test lives in one of them.
    monkeypatch.setattr("buildloop.agents.boundaries.COMMON", ("/dev/null",))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "scratch"))
    workspace = prepare_worktree(request_for(repo, run_id="r1"))
    before, start = checkout_state(repo), git(repo, "rev-parse", "buildloop/r1")
    root = Path(workspace.root)
    call = agent_call(tmp_path, workdir=root, writable=(root, *commit_folders(workspace)))
    script = WORK.format(git=repo / ".git", repo=repo)
    ran = subprocess.run(
        confined(["sh", "-c", script], call, tmp_path / "run"), cwd=root, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert git(repo, "rev-parse", "buildloop/r1") != start
    assert git(repo, "log", "-1", "--format=%s", "buildloop/r1") == "mine"
    assert checkout_state(repo) == before
    assert not (repo / ".git" / "hooks" / "pre-commit").exists()
