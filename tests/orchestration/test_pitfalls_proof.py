"""Pitfalls 10 to 14 and 39 to 46 of the old loop: what counts as done, and what a run remembers."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from buildloop.result import StopReason
from tests.support.repos import GREEN, make_repo
from tests.support.scripts import WRITE_FIX, write_script, wrong

PYTHON = shlex.quote(sys.executable)
FULL = {"context_tokens": 150_000, "cost_usd": 1.5}


def test_pitfall_10_an_agent_that_rewrites_the_tests_does_not_complete(play, tmp_path):
    files = {"run_tests.sh": "test -e feature.txt\n"}
    place = make_repo(tmp_path / "tampered", files)
    cheat = {"do": [{"write": "run_tests.sh", "text": "exit 0\n"}]}
    result, _ = play(cheat, where=place, test=("sh run_tests.sh",), max_iterations=1)
    assert result.reason is not StopReason.COMPLETE


def test_pitfall_10_a_run_completes_only_by_its_gate_commands(play):
    """Whatever is claimed, a red gate stays red."""
    result, _ = play({"do": [wrong(1)], "say": "all tests pass", "done": True}, max_iterations=1)
    assert result.reason is StopReason.MAX_ITERATIONS


def test_pitfall_11_every_command_has_to_pass(play, repo):
    """The fast suite is green at once; the full one decides too. And so does the acceptance command."""
    fast, full = "true", f"{PYTHON} -m unittest -q"
    rules = (
        {"when": {"call": 1}, "do": [wrong(1)], "done": True},
        {"when": {"call": 2}, "do": [WRITE_FIX], "done": True},
        {"do": [{"write": "CHANGES", "text": "x"}], "done": True},
    )
    result, run = play(*rules, test=(fast, full), accept="test -e CHANGES")
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 3)
    last = run.iterations()[-1].gate
    assert [one.command for one in last.commands] == [fast, full, "test -e CHANGES"]


def test_pitfall_11_completion_needs_a_fresh_run_of_the_whole_gate(play, tmp_path):
    """Green by luck once: the second run on the same tree is red, so the run is not complete."""
    once = f"echo run >> {tmp_path}/runs; test -e feature.txt && test $(wc -l < {tmp_path}/runs) -eq 2"
    result, run = play({"do": [{"write": "feature.txt", "text": "x"}]}, test=(once,), max_iterations=1)
    assert result.reason is not StopReason.COMPLETE
    first, proof, *_ = run.iterations()[1].reports
    assert (first.passed, proof.passed) == (True, False)


def test_pitfall_12_resume_and_then_restart_keep_the_goal(play, build, tmp_path):
    """Stopped in session 1, resumed, restarted in session 2: the goal is in every prompt, and nothing is paid twice."""
    goal = "make the tests pass,\nall of them"
    first = {"when": {"call": 1}, "do": [wrong(1)], "usage": {"cost_usd": 1.0}}
    stopped, run = play(first, {"outcome": "refused"}, goal=goal)
    assert stopped.reason is StopReason.AGENT_REFUSED
    full = {"when": {"session": 1}, "do": [wrong(2)], "usage": FULL}
    write_script(tmp_path / "agent.json", first, full, {"do": [WRITE_FIX], "usage": {"cost_usd": 0.25}})
    result = build(run.request())
    assert (result.reason, result.sessions, result.iterations) == (StopReason.COMPLETE, 2, 3)
    prompts = [path.read_text() for path in (run.path / "iterations").glob("*/prompt.md")]
    assert len(prompts) == 3
    assert all(f"## Your Goal\n\n{goal}\n" in prompt for prompt in prompts)
    assert result.usage.cost_usd == pytest.approx(2.75)


def test_pitfall_13_a_line_of_175_kb_breaks_nothing(play):
    noise = f"{PYTHON} -c \"print('x' * 175_000)\"; {PYTHON} -m unittest -q"
    result, run = play({"when": {"prompt": "test_add"}, "do": [WRITE_FIX]}, test=(noise,))
    assert result.reason is StopReason.COMPLETE
    prompt = (run.path / "iterations" / "1-1" / "prompt.md").read_text()
    assert len(prompt) < 30_000
    assert len((run.path / "iterations" / "1-1" / "gate.log").read_text()) > 175_000


def test_pitfall_41_a_rejected_completion_is_told_once_with_its_reason(play, tmp_path):
    place = make_repo(tmp_path / "green", GREEN)
    rules = [{"when": {"call": n}, "do": [{"write": f"{n}.txt", "text": "x"}]} for n in (1, 2)]
    result, run = play(*rules, {"say": "nothing"}, where=place, max_iterations=3)
    assert result.reason is StopReason.MAX_ITERATIONS
    prompts = [(run.path / "iterations" / f"1-{n}" / "prompt.md").read_text() for n in (1, 2, 3)]
    assert [prompt.count("proves nothing") for prompt in prompts[1:]] == [1, 1]


def test_pitfall_42_a_new_run_knows_nothing_of_an_old_ones_errors(play, tmp_path):
    _, old = play({"do": [wrong(1)]}, max_iterations=1)
    assert "test_add" in json.dumps(json.loads((old.path / "error-summary.json").read_text()))
    place = make_repo(tmp_path / "docs", {"README.md": "tpyo"})
    fix = {"do": [{"write": "README.md", "text": "typo"}]}
    result, new = play(fix, where=place, test=("grep -q typo README.md",))
    assert result.reason is StopReason.COMPLETE
    assert not (new.path / "error-summary.json").exists()
    assert "test_add" not in (new.path / "iterations" / "1-1" / "prompt.md").read_text()
