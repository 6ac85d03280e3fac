"""`buildloop run --agent …` with the real programs: a real bug, fixed to green."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from buildloop.models import AgentReply
from buildloop.result import BuildResult, StopReason
from buildloop.rundir import RunDir
from tests.agents.conftest import BUG, DRIVEN, FIX, MODELS, READ, variables_for
from tests.support.model import ScriptedModel
from tests.support.repos import GREEN, checkout_state, git, make_repo
from tests.support.waiting import processes_with

pytestmark = [pytest.mark.server, pytest.mark.slow]
WRONG = {"say": "A try.", "do": [{"edit": ["calc.py", "    return a - b\n", "    return a * b\n"]}]}
BETTER = {"say": "Now right.", "do": [{"edit": ["calc.py", "    return a * b\n", "    return a + b\n"]}]}


@pytest.fixture
def run(buildloop, installed, tmp_path):
    """Run the command on a repository with a bug; the result, what was left in the run's folder, and the requests."""

    def start(name: str, *turns: dict):
        installed(name)
        repo = make_repo(tmp_path / "repo", GREEN | BUG)
        before = checkout_state(repo)
        with ScriptedModel(list(turns)) as model:
            variables = variables_for(name, model.url, Path(os.environ["HOME"]))
            ran = buildloop(
                "run", "make the tests of calc.py pass", "--repo", str(repo), "--test", "python -m unittest -q",
                "--agent", name, "--model", MODELS[name], "--state-dir", str(tmp_path / "state"), "--json",
                env={"PATH": os.environ["PATH"], **variables}, timeout=400,
            )  # fmt: skip
        assert checkout_state(repo) == before
        result = json.loads(ran.stdout) if ran.stdout.startswith("{") else {}
        return ran, result, repo, model

    return start


@pytest.mark.parametrize("name", DRIVEN)
def test_a_bug_is_fixed_to_green(run, name, tmp_path):
    """Red after the first iteration, green after the second, in the same session of the agent."""
    turns = [READ, WRONG, {"say": "First try done."}, BETTER, {"say": "Done."}]
    turns = [WRONG, BETTER] if name == "aider" else turns
    ran, result, repo, model = run(name, *turns)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert result["reason"] == "complete"
    assert "return a + b" in git(repo, "show", f"{result['branch']}:calc.py")
    assert model.turns_left == 0
    (folder,) = (tmp_path / "state" / "runs").iterdir()
    replies = [json.loads(path.read_text()) for path in sorted(folder.glob("iterations/*/reply.json"))]
    assert [reply["outcome"] for reply in replies] == ["ok", "ok"]
    assert {reply["agent"].partition(":")[0] for reply in replies} == {name}
    if name != "aider":
        assert len({reply["session_id"] for reply in replies}) == 1
        assert "First try done." in model.requests[-1].text
    assert processes_with(folder.name) == []


@pytest.fixture
def play(build, installed, request_for, repo, monkeypatch):
    """Run the flow in this process with a real agent that works through these turns."""

    def run(name: str, *turns: dict) -> tuple[BuildResult, RunDir]:
        installed(name)
        with ScriptedModel(list(turns)) as model:
            for variable, value in variables_for(name, model.url, Path(os.environ["HOME"])).items():
                monkeypatch.setenv(variable, value)
            request = request_for(repo, agent=name, model=MODELS[name])
            return build(request), RunDir(request.run_dir)

    return run


def replies_of(run: RunDir) -> list[AgentReply]:
    return [one.agent.reply for one in run.iterations() if one.agent]


def test_a_refusal_ends_the_run(play):
    result, _ = play("claude", {"error": "auth", "times": -1})
    assert result.reason is StopReason.AGENT_REFUSED
    assert "API key" in result.explanation


def test_an_overflow_starts_a_new_session_from_a_summary(play):
    result, run = play("claude", READ, {"error": "overflow"}, READ, FIX, {"say": "Done."})
    assert result.reason is StopReason.COMPLETE
    assert [one.session for one in run.iterations() if one.agent] == [1, 2]
    assert len({reply.session_id for reply in replies_of(run)}) == 2


def test_a_rate_limit_is_waited_out_and_is_no_iteration(play):
    result, run = play("codex", {"error": "rate_limit"}, READ, FIX, {"say": "Done."})
    assert result.reason is StopReason.COMPLETE
    assert len(replies_of(run)) == 1
    assert "loop.agent_waiting" in (run.path / "events.jsonl").read_text()
