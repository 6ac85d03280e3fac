"""What a confined agent can do outside of its workspace: commit to its repository, renew its log-in, nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from buildloop.agents.boundaries import confined
from buildloop.agents.confine import can_confine
from buildloop.agents.registry import cli_agent
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


@pytest.fixture(autouse=True)
def own_scratch(tmp_path, monkeypatch):
    """Everybody's folders are writable, and these tests live in one of them."""
    monkeypatch.setattr("buildloop.agents.boundaries.COMMON", ("/dev/null",))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "scratch"))


def test_it_commits_in_its_worktree_and_changes_nothing_else(repo, request_for, tmp_path):
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


@pytest.mark.parametrize(
    "renewing",
    [
        'echo renewed > "$CLAUDE_CONFIG_DIR/.credentials.json"',
        'cd "$CLAUDE_CONFIG_DIR" && echo renewed > new && mv new .credentials.json',
    ],
    ids=["through the link", "in its place"],
)
def test_a_log_in_it_renews_reaches_the_user_and_nothing_else_does(tmp_path, monkeypatch, renewing):
    users = tmp_path / "home" / ".claude" / ".credentials.json"
    users.parent.mkdir(parents=True)
    users.write_text("old")
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho x > "$HOME/.claude/other"\n{renewing}\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    surroundings = {**os.environ, "PATH": path, "HOME": str(tmp_path / "home")}
    cli_agent("claude").run(agent_call(tmp_path, environment=surroundings, mark=f"b-{tmp_path.name}"))
    assert users.read_text() == "renewed\n"
    assert not (users.parent / "other").exists()
