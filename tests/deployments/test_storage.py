"""Where runs are kept: a folder of one's own, a shared one, or a bucket from which another machine goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from buildloop.result import StopReason
from buildloop.storage import bucket, default_state_dir
from tests.support.repos import git
from tests.support.scripts import WRITE_FIX, write_script, wrong


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"BUILDLOOP_STATE_DIR": "/a", "BUILDLOOP_STORAGE": "/b"}, "/a"),
        ({"BUILDLOOP_STORAGE": "/b"}, "/b"),
        ({"BUILDLOOP_STORAGE": "file:///b%20c"}, "/b c"),
        ({"BUILDLOOP_STORAGE": "s3://bucket/x"}, None),
        ({}, None),
    ],
)
def test_a_path_is_the_state_directory_and_a_bucket_is_not(monkeypatch, variables, folder):
    for name in ("BUILDLOOP_STATE_DIR", "BUILDLOOP_STORAGE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert default_state_dir() == (folder or str(Path.home() / "state" / "buildloop"))


def test_only_what_is_not_a_folder_is_a_bucket():
    assert bucket({"BUILDLOOP_STORAGE": "s3://bucket/x/"}) == "s3://bucket/x"
    assert bucket({"BUILDLOOP_STORAGE": "file:///b"}) is None
    assert bucket({"BUILDLOOP_STORAGE": "/b"}) is None
    assert bucket({}) is None


@pytest.mark.server
def test_another_machine_goes_on_from_the_bucket(prefect_server, request_for, repo, tmp_path, monkeypatch):
    """Of the first machine only the bucket is left: no state directory, no branch, no commit."""
    from flows.build_loop import build_loop

    monkeypatch.setenv("BUILDLOOP_STORAGE", "memory://bucket/runs-of-a-team")
    start = git(repo, "rev-parse", "HEAD")
    script = write_script(
        tmp_path / "agent.json", {"when": {"call": 1}, "do": [wrong(1)]}, {"do": [WRITE_FIX]}
    )
    asked = request_for(
        repo, agent="scripted", agent_script=str(script), max_iterations=1, extension_size=0, run_id="moved"
    )
    first = build_loop(asked, return_state=True).result(raise_on_failure=False)
    assert first.reason is StopReason.MAX_ITERATIONS
    shutil.rmtree(tmp_path / "state")
    shutil.rmtree(repo / ".git" / "worktrees", ignore_errors=True)
    for ref in git(repo, "for-each-ref", "--format=%(refname)").splitlines():
        if ref != "refs/heads/main":
            git(repo, "update-ref", "-d", ref)
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "-q", "--prune=now")

    again = asked.model_copy(update={"max_iterations": 3})
    result = build_loop(again, return_state=True).result(raise_on_failure=False)
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 2)
    log = git(repo, "log", "--format=%s", f"{start}..{result.branch}").splitlines()
    assert log == ["buildloop: iteration 2", "buildloop: iteration 1"]
    played = json.loads((asked.run_dir / "scripted-agent.json").read_text())
    assert sum(played.values()) == 2, "the first iteration was not paid for again"
