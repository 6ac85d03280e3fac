"""Ladders, budgets, waits, limits and what is handed back: through the real flow."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from buildloop.events import read_events
from buildloop.people.hints import give
from buildloop.result import StopReason
from buildloop.rundir import RunDir
from tests.support.command import command_environment, run_buildloop
from tests.support.repos import commit_all, git, make_repo
from tests.support.scripts import WRITE_FIX, write_script, wrong
from tests.support.waiting import content, eventually, processes_with

CHEAP = {"input_tokens": 100, "output_tokens": 10, "cost_usd": 0.3}
TWO_TESTS = """\
import unittest

import calc


class Sums(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(1, 2), 3)

    def test_sub(self):
        self.assertEqual(calc.sub(3, 2), 1)
"""
HALF = {"write": "calc.py", "text": "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return 0\n"}
NONE = {"write": "calc.py", "text": "def add(a, b):\n    return 0\n\n\ndef sub(a, b):\n    return 0\n"}


def events(run: RunDir, kind: str) -> list[dict]:
    return [event for event in read_events(run.path / "events.jsonl") if event["type"] == kind]


def test_the_same_failure_goes_to_the_stronger_model(play):
    rules = (
        {"when": {"model": "large"}, "do": [WRITE_FIX]},
        {"when": {"call": 1}, "do": [wrong(1)]},
        {"do": [wrong(2)]},
    )
    result, run = play(*rules, model="small,large")
    assert result.reason is StopReason.COMPLETE
    assert [call.agent for call in run.ledger.calls()] == [
        "scripted:small",
        "scripted:small",
        "scripted:large",
    ]
    assert [event["effect"] for event in events(run, "loop.recovery_outcome")][-1] == "solved"


def test_a_refused_agent_is_followed_by_the_next_one_and_not_asked_again(play):
    rules = (
        {"when": {"model": "locked"}, "outcome": "refused", "error": "no credit left"},
        {"when": {"call": 2}, "do": [wrong(1)]},
        {"do": [WRITE_FIX]},
    )
    result, run = play(*rules, model="locked,open")
    assert result.reason is StopReason.COMPLETE
    assert [(call.agent, call.outcome) for call in run.ledger.calls()] == [
        ("scripted:locked", "refused"),
        ("scripted:open", "ok"),
        ("scripted:open", "ok"),
    ]
    assert "no credit left" in events(run, "loop.agent_changed")[0]["why"]
    assert result.iterations == 2


def test_a_budget_stops_the_run_before_the_call_that_would_exceed_it_and_a_higher_one_resumes_it(play, build):
    errors = ("KeyError('a')", "IndexError('b')", "TypeError('c')")
    rules = [
        {"when": {"call": n}, "do": [_raising(error)], "usage": CHEAP} for n, error in enumerate(errors, 1)
    ]
    result, run = play(*rules, {"do": [WRITE_FIX], "usage": CHEAP}, budget_usd=1)
    assert (result.reason, result.exit_code, result.iterations) == (StopReason.BUDGET, 1, 3)
    assert "$0.90 spent in 3 calls" in result.explanation
    assert result.usage.cost_usd == pytest.approx(0.9)
    result = build(run.request().model_copy(update={"budget_usd": 2.0}))
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 4)
    assert result.usage.cost_usd == pytest.approx(1.2)
    assert len(run.ledger.calls()) == 4


def _raising(error: str) -> dict:
    return {"write": "calc.py", "text": f"def add(a, b):\n    raise {error}\n"}


def test_an_agent_that_names_its_reset_time_is_waited_for_and_the_wait_is_no_iteration(play):
    limited = {"when": {"call": 1}, "outcome": "transient", "error": "rate limit", "reset_in": 1.5}
    began = time.time()
    result, run = play(limited, {"do": [WRITE_FIX]}, retry_delay=0)
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 1)
    assert time.time() - began >= 1.5
    waits = events(run, "loop.agent_waiting")
    assert len(waits) == 1
    assert 0 < waits[0]["seconds"] <= 1.5
    assert [call.outcome for call in run.ledger.calls()] == ["transient", "ok"]


def test_a_reset_time_that_is_too_far_away_ends_the_run_and_says_when(play):
    limited = {"outcome": "transient", "error": "weekly limit", "reset_in": 90_000}
    result, _ = play(limited, max_wait=60)
    assert result.reason is StopReason.AGENT_UNAVAILABLE
    assert "answer again at" in result.explanation


def test_the_best_tree_is_handed_back_not_the_last_one(play, tmp_path):
    place = make_repo(tmp_path / "two", {"calc.py": NONE["text"], "test_calc.py": TWO_TESTS})
    rules = ({"when": {"call": 1}, "do": [HALF]}, {"do": [NONE, {"write": "n.txt", "text": "x"}]})
    result, run = play(*rules, where=place, max_iterations=2, extension_size=0)
    assert (result.reason, result.handed_back) == (StopReason.MAX_ITERATIONS, 1)
    assert git(place, "show", f"{result.branch}:calc.py") + "\n" == HALF["text"]
    assert git(place, "rev-parse", f"{result.branch}^{{tree}}") == result.tree
    assert len(result.failing) == 1
    assert set(result.since.values()) == {0}
    assert git(place, "rev-parse", f"refs/buildloop/{run.run_id}/best") == run.iterations()[1].head
    assert "best tree, that of iteration 1" in (run.path / "report.md").read_text()
    assert "buildloop: iteration 2" in git(place, "log", "--format=%s", result.branch)


def test_work_on_a_green_repository_is_not_thrown_away_at_a_limit(play, tmp_path):
    place = make_repo(tmp_path / "green", {"calc.py": WRITE_FIX["text"], "test_ok.py": "import calc\n"})
    result, _ = play({"do": [{"write": "feature.py", "text": "x = 1\n"}]}, where=place, max_iterations=1)
    assert (result.reason, result.handed_back) == (StopReason.MAX_ITERATIONS, None)
    assert git(place, "show", f"{result.branch}:feature.py") == "x = 1"


def test_the_limit_is_extended_only_while_the_failing_set_shrinks(play, tmp_path):
    place = make_repo(tmp_path / "two", {"calc.py": NONE["text"], "test_calc.py": TWO_TESTS})
    both = {"write": "calc.py", "text": HALF["text"].replace("return 0", "return a - b")}
    result, run = play(
        {"when": {"call": 1}, "do": [HALF]}, {"do": [both]}, where=place, max_iterations=1, extension_size=2
    )
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 2)
    assert [event["max"] for event in events(run, "loop.extended")] == [3]


def test_buildloop_cancel_ends_agent_and_run_which_can_then_be_resumed(
    prefect_server, repo, request_for, tmp_path
):
    hang = [sys.executable, "-c", "import time; print('started', flush=True); time.sleep(600)"]
    script = write_script(
        tmp_path / "a.json", {"when": {"call": 1}, "do": [{"run": hang}]}, {"do": [WRITE_FIX]}
    )
    state_dir = tmp_path / "cancelled"
    options = ["--repo", str(repo), "--agent-script", str(script), "--state-dir", str(state_dir)]
    argv = [
        sys.executable,
        "-m",
        "buildloop.cli.main",
        "run",
        "fix it",
        "--test",
        "python -m unittest",
        *options,
    ]
    working = subprocess.Popen(argv, env=command_environment(prefect_server), stdout=subprocess.DEVNULL)
    eventually(lambda: list(state_dir.glob("runs/*/iterations/1-1/agent.err")))
    run = RunDir(next(state_dir.glob("runs/*")))
    eventually(lambda: "started" in content(run.path / "iterations" / "1-1" / "agent.err"))
    stopped = run_buildloop("cancel", run.run_id, "--state-dir", str(state_dir))
    assert stopped.returncode == 0, stopped.stderr
    assert "is cancelled" in stopped.stdout
    assert working.wait(300) == 130
    eventually(lambda: processes_with(run.run_id) == [])
    assert run.result().reason is StopReason.CANCELLED
    again = run_buildloop("cancel", run.run_id, "--state-dir", str(state_dir))
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "not running" in again.stderr
    write_script(script, {"do": [WRITE_FIX]})
    resumed = run_buildloop("resume", run.run_id, "--state-dir", str(state_dir), api_url=prefect_server)
    assert resumed.returncode == 0, resumed.stderr


def test_commits_added_to_a_stopped_runs_branch_are_not_dropped_by_a_resume(play, repo, prefect_server):
    result, run = play({"do": [wrong(1)]}, max_iterations=1)
    git(repo, "checkout", "-q", result.branch)
    (repo / "mine.txt").write_text("precious")
    commit_all(repo, "my own work")
    git(repo, "checkout", "-q", "main")
    state_dir = str(run.path.parents[1])
    refused = run_buildloop("resume", run.run_id, "--max-iterations", "2", "--state-dir", state_dir)
    assert refused.returncode == 2
    assert "was moved" in refused.stderr
    assert git(repo, "show", f"{result.branch}:mine.txt") == "precious"


def test_a_stuck_run_ends_early_with_a_question_and_goes_on_when_a_person_has_answered_it(play, build):
    rules = [{"when": {"prompt": "look at the sign"}, "do": [WRITE_FIX]}]
    rules += [{"when": {"call": n}, "do": [wrong(n)], "say": f"idea {n}"} for n in range(1, 30)]
    result, run = play(*rules, max_iterations=25)
    assert result.reason is StopReason.STUCK
    assert result.iterations < 12
    assert "person" in result.explanation
    assert all(word in result.question for word in ("make the tests pass", "test_add", "calc.py"))
    assert "Question for a person" in (run.path / "report.md").read_text()
    assert build(run.request()).reason is StopReason.STUCK, "nothing was said, so nothing is left to try"
    give(run.path, "look at the sign", "a person")
    again = build(run.request())
    assert (again.reason, again.iterations) == (StopReason.COMPLETE, result.iterations + 1)
    assert build(run.request()).iterations == again.iterations, "a replay goes the same way"


def test_a_run_that_was_stopped_resumed_and_killed_can_be_resumed_again(play, build, repo):
    """The result of the first stop says where the branch was then, not where it is now."""
    result, run = play(*[{"when": {"call": n}, "do": [wrong(n)]} for n in range(1, 9)], max_iterations=1)
    assert result.reason is StopReason.MAX_ITERATIONS
    more = run.request().model_copy(update={"max_iterations": 2})
    build(more)
    run.forget_result()
    (run.path / "iterations" / "1-2" / "iteration.json").unlink()
    last = build(more.model_copy(update={"max_iterations": 3}))
    assert (last.reason, last.iterations) == (StopReason.MAX_ITERATIONS, 3)
