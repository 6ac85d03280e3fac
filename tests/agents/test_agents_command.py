"""`buildloop agents`, `buildloop agents test` and `buildloop run --agent` as a user types them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.agents.conftest import MODELS, variables_for
from tests.support.agent_clis import programs_of
from tests.support.command import run_buildloop
from tests.support.model import ScriptedModel

pytestmark = pytest.mark.slow
# Git and the shell, but none of the agents.
WITHOUT_AGENTS = {"PATH": "/usr/bin:/bin"}


def test_the_list_says_what_is_installed_and_how_to_get_the_rest(tmp_path):
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\necho codex-cli 9.9.9\n")
    program.chmod(0o755)
    ran = run_buildloop("agents", "--json", env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    listed = {one["name"]: one for one in json.loads(ran.stdout)}
    assert set(listed) == {"claude", "codex", "gemini", "opencode", "aider"}
    assert listed["codex"]["version"] == "codex-cli 9.9.9"
    assert listed["claude"]["path"] is None
    assert "npm install" in listed["claude"]["install"]
    plain = run_buildloop("agents", env={"PATH": f"{tmp_path}:/usr/bin:/bin"}).stdout
    assert "codex-cli 9.9.9" in plain
    assert "tested with" in plain
    assert "uv tool install aider-chat" in plain


def test_a_run_with_an_agent_that_is_not_there_changes_nothing(repo, tmp_path):
    ran = run_buildloop(
        "run", "fix it", "--repo", str(repo), "--test", "true", "--agent", "claude",
        "--state-dir", str(tmp_path / "state"), env=WITHOUT_AGENTS,
    )  # fmt: skip
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "install it with 'npm install -g @anthropic-ai/claude-code@" in ran.stderr
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("agents", "test", "klaude"), "did you mean 'claude'?"),
        (("agents", "test", "scripted"), "choose one of claude"),
        (("agents", "test"), "NAME"),
        (("agents", "test", "claude"), "install it with"),
    ],
)
def test_bad_input_is_one_sentence(words, said):
    ran = run_buildloop(*words, env=WITHOUT_AGENTS)
    assert ran.returncode == 2
    assert said.lower() in ran.stderr.lower()
    assert "Traceback" not in ran.stderr


def test_the_check_asks_one_question_and_prints_what_it_saw(installed, tmp_path):
    installed("claude")
    with ScriptedModel([{"say": "ready", "usage": {"input": 1000, "output": 3}}]) as model:
        variables = variables_for("claude", model.url, Path(os.environ["HOME"]))
        path = f"{programs_of('claude')}:/usr/bin:/bin"
        words = ("agents", "test", "claude", "--model", MODELS["claude"])
        ran = run_buildloop(*words, env={**variables, "PATH": path, "TMPDIR": str(tmp_path)})
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert len(model.requests) == 1
    assert "ok" in ran.stdout
    assert "ready" in ran.stdout
    assert "1003 of 200000 tokens" in ran.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_check_that_fails_says_why_and_exits_with_1(installed):
    installed("claude")
    ran = run_buildloop("agents", "test", "claude", env={"PATH": f"{programs_of('claude')}:/usr/bin:/bin"})
    assert ran.returncode == 1
    assert "refused" in ran.stdout
    assert "Not logged in" in ran.stdout
