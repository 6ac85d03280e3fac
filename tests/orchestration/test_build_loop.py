"""The loop end to end: real flow, real server, real git, real gate, a scripted agent."""

from __future__ import annotations

import os

import pytest

from buildloop.errors import InputError
from buildloop.events import read_events
from buildloop.result import StopReason
from tests.support.repos import GREEN, checkout_state, git, make_repo
from tests.support.scripts import WRITE_FIX, wrong


def test_a_red_gate_turns_green_and_the_result_is_a_branch(play, repo):
    before = checkout_state(repo)
    result, run = play({"do": [WRITE_FIX]})
    assert result.reason is StopReason.COMPLETE
    assert result.iterations == 1
    assert git(repo, "rev-list", "--count", f"main..{result.branch}") == "1"
    assert git(repo, "show", f"{result.branch}:calc.py") == "def add(a, b):\n    return a + b"
    assert checkout_state(repo) == before
    assert [one.number for one in run.iterations()] == [0, 1]


def test_one_commit_an_iteration_with_trailers(play, repo):
    result, run = play({"when": {"call": 1}, "do": [wrong(1)]}, {"do": [WRITE_FIX]})
    bodies = git(repo, "log", "--format=%B%x00", f"main..{result.branch}").split("\0")
    assert result.iterations == 2
    assert [f"Buildloop-Run: {run.run_id}" in body for body in bodies if body.strip()] == [True, True]
    assert "Buildloop-Iteration: 2" in bodies[0]


def test_an_agents_own_commits_become_one_checkpoint_and_keep_their_subjects(play, repo):
    commit = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "my own commit"]
    result, _ = play({"do": [WRITE_FIX, {"run": commit}]})
    assert result.reason is StopReason.COMPLETE
    assert git(repo, "rev-list", "--count", f"main..{result.branch}") == "1"
    assert "* my own commit" in git(repo, "log", "-1", "--format=%B", result.branch)


def test_max_iterations_n_means_n(play):
    result, run = play({"do": [{"write": "notes.txt", "text": "busy"}]}, max_iterations=3)
    assert result.reason is StopReason.MAX_ITERATIONS
    assert result.iterations == 3
    starts = [e for e in read_events(run.path / "events.jsonl") if e["type"] == "loop.iteration_start"]
    assert len(starts) == 3


def test_a_flaky_test_is_rerun_without_the_agent(play, tmp_path):
    flaky = (
        "import pathlib, unittest\n\n\nclass Flaky(unittest.TestCase):\n    def test_service(self):\n"
        "        warm = pathlib.Path('.cache-warm')\n        if not warm.exists():\n"
        "            warm.touch()\n            self.fail('no answer')\n"
    )
    files = GREEN | {"test_flaky.py": flaky, ".gitignore": ".cache-warm\n__pycache__/\n"}
    place = make_repo(tmp_path / "flaky", files)
    result, run = play({"do": [{"write": "new.txt", "text": "x"}], "done": True}, where=place)
    assert result.reason is StopReason.COMPLETE
    baseline = run.iterations()[0]
    assert baseline.remedies[0].diagnosis.mode == "test_flakiness"
    assert baseline.gate.passed


def test_a_full_context_restarts_from_a_summary_after_commit_and_gate(play):
    full = {"input_tokens": 10, "output_tokens": 1, "context_tokens": 150_000}
    rules = (
        {"when": {"session": 1}, "do": [wrong(1)], "usage": full, "say": "half way there"},
        {"when": {"session": 2, "prompt": "Previous Session"}, "do": [WRITE_FIX]},
    )
    result, run = play(*rules)
    assert result.reason is StopReason.COMPLETE
    assert (result.sessions, result.iterations) == (2, 2)
    summary = (run.path / "context-summary.md").read_text()
    assert len(summary) <= 2001
    assert "make the tests pass" in summary
    assert "test_add" in summary
    first = run.iterations()[1]
    assert first.agent.checkpoint.changed
    types = [event["type"] for event in read_events(run.path / "events.jsonl")]
    for name in ("loop.context_usage", "loop.context_exhaustion_warning", "loop.context_exhaustion_restart"):
        assert name in types
    assert (run.path / "restart-1" / "context-summary.md").exists()


def test_overflow_restarts_too_and_keeps_the_work(play):
    rules = (
        {"when": {"session": 1}, "do": [wrong(1)], "outcome": "overflow"},
        {"do": [WRITE_FIX]},
    )
    result, run = play(*rules)
    assert (result.reason, result.sessions) == (StopReason.COMPLETE, 2)
    assert run.iterations()[1].agent.checkpoint.changed


def test_no_restart_is_left_says_so(play):
    full = {"context_tokens": 190_000}
    result, _ = play({"do": [wrong(1)], "usage": full}, max_restarts=0)
    assert result.reason is StopReason.MAX_RESTARTS
    assert result.exit_code == 1


def test_a_stuck_agent_is_redirected_with_its_failed_approach_forbidden(play, repo):
    rules = (
        {"when": {"prompt": "FORBIDDEN"}, "do": [WRITE_FIX]},
        {"when": {"call": 1}, "do": [wrong(1)], "say": "my only idea"},
        {"when": {"call": 2}, "do": [wrong(2)]},
        {"when": {"call": 3}, "do": [wrong(3)]},
    )
    result, run = play(*rules)
    assert result.reason is StopReason.COMPLETE
    events = read_events(run.path / "events.jsonl")
    (stuck,) = [event for event in events if event["type"] == "loop.stuckness_detected"]
    assert (stuck["iteration"], stuck["signals"]) == (3, len(stuck["reasons"]))
    assert stuck["count"] >= 3
    prompt = (run.path / "iterations" / "1-4" / "prompt.md").read_text()
    assert "my only idea" in prompt
    assert "Buildloop-Back-To" in git(repo, "log", "--format=%B", result.branch)


def test_a_loop_that_stays_stuck_ends_and_says_why(play):
    rules = [{"when": {"call": n}, "do": [wrong(n)]} for n in range(1, 30)]
    result, _ = play(*rules, max_iterations=25)
    assert result.reason is StopReason.STUCK
    assert result.iterations < 12
    assert "person" in result.explanation


def test_a_package_that_cannot_be_had_stops_the_run_long_before_its_limit(play, tmp_path):
    files = GREEN | {"calc.py": "import nobodyhasthis\n", "requirements.txt": "--no-index\nnobodyhasthis\n"}
    rules = [{"when": {"call": n}, "do": [{"write": "n.txt", "text": str(n)}]} for n in range(1, 30)]
    result, run = play(*rules, where=make_repo(tmp_path / "needy", files), max_iterations=25)
    assert result.reason is StopReason.STUCK
    assert result.iterations < 12
    assert {one.diagnosis.mode for one in run.iterations()} == {"dependency_issue"}


def test_what_the_agent_declares_is_installed_although_an_install_failed_to_help_before(play, tmp_path):
    from buildloop.demo.build import build_sample

    wheel = build_sample(tmp_path / "demo") / "vendor" / "tinymoney-1.0-py3-none-any.whl"
    files = GREEN | {
        "calc.py": "import tinymoney\n\n\ndef add(a, b):\n    return a + b\n",
        "requirements.txt": "# nothing declared yet\n",
    }
    declare = {"write": "requirements.txt", "text": f"{wheel}\n"}
    result, run = play({"do": [declare]}, where=make_repo(tmp_path / "undeclared", files))
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 1)
    assert [one.remedies[0].recovery.strategy.action for one in run.iterations()] == ["reinstall_deps"] * 2


def test_transient_agent_errors_are_waited_out_and_are_no_iterations(play):
    rules = (
        {"when": {"times": 2}, "outcome": "transient", "error": "overloaded"},
        {"do": [WRITE_FIX]},
    )
    result, run = play(*rules)
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 1)
    waits = [e for e in read_events(run.path / "events.jsonl") if e["type"] == "loop.agent_waiting"]
    assert [event["attempt"] for event in waits] == [1, 2]


def test_an_agent_that_stays_unavailable_ends_the_run(play):
    result, _ = play({"outcome": "transient", "error": "overloaded"})
    assert result.reason is StopReason.AGENT_UNAVAILABLE
    assert result.iterations == 0


def test_a_refusal_stops_at_once_with_code_4_and_can_be_resumed(play, build, request_for, repo, tmp_path):
    result, run = play({"outcome": "refused", "error": "invalid key"})
    assert result.reason is StopReason.AGENT_REFUSED
    assert result.exit_code == 4
    request = run.request()
    (tmp_path / "agent.json").write_text(
        '{"rule": [{"do": [{"write": "calc.py", "text": "def add(a, b): return a + b"}]}]}'
    )
    again = build(request)
    assert (again.reason, again.iterations) == (StopReason.COMPLETE, 1)


def test_a_gate_that_cannot_run_ends_with_code_3_before_any_agent_call(play):
    result, run = play({"do": [WRITE_FIX]}, test=("no-such-program --now",))
    assert result.reason is StopReason.GATE_COULD_NOT_RUN
    assert result.exit_code == 3
    assert "no-such-program" in result.explanation
    assert not [e for e in read_events(run.path / "events.jsonl") if e["type"] == "loop.iteration_start"]


def test_forced_failure_mode_is_used_and_said(play):
    result, run = play(
        {"when": {"call": 1}, "do": [wrong(1)]}, {"do": [WRITE_FIX]}, failure_mode="infinite_loop"
    )
    assert result.reason is StopReason.COMPLETE
    assert run.iterations()[1].diagnosis.forced
    types = [event["type"] for event in read_events(run.path / "events.jsonl")]
    assert "loop.failure_mode_forced" in types


def counting_gate(count, condition):
    """Green when the condition holds; `$n` is how often the gate was run."""
    failure = "echo 'FAIL: test_x (m.T.test_x)'; exit 1"
    return f"echo run >> {count}; n=$(wc -l < {count}); {condition} || {{ {failure}; }}"


def test_green_by_a_lucky_rerun_is_not_complete_without_proof(play, tmp_path):
    """Red, then green on the same tree, but the diagnosis is forced: the last word is still a fresh full run."""
    gate = counting_gate(tmp_path / "runs", "test $n -eq 4")
    result, run = play({"do": [wrong(1)]}, test=(gate,), failure_mode="code_error", max_iterations=1)
    assert result.reason is not StopReason.COMPLETE
    assert not run.iterations()[1].gate.passed


def test_every_proof_is_a_run_of_its_own(play, tmp_path):
    """A proof that failed once is not remembered as the answer to the next one on the same tree."""
    gate = counting_gate(tmp_path / "runs", "test -e fix.txt && test $n -ne 3")
    result, run = play({"do": [{"write": "fix.txt", "text": "x"}]}, test=(gate,), max_iterations=1)
    assert [report.passed for report in run.iterations()[1].reports].count(False) == 1
    assert result.reason is StopReason.COMPLETE


def test_a_sandbox_that_does_not_work_ends_the_run_with_one_sentence(play, repo, tmp_path, monkeypatch):
    broken = tmp_path / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'no user namespaces here' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
    before = checkout_state(repo)
    with pytest.raises(InputError, match=r"no user namespaces here.*--sandbox none"):
        play({"do": [WRITE_FIX]}, sandbox="bwrap")
    assert checkout_state(repo) == before
