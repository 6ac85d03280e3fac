"""Seed 000, context exhaustion prevention: the validation criteria about the running loop, by name."""

from __future__ import annotations

import pytest

from buildloop.events import read_events
from buildloop.result import StopReason
from tests.support.scripts import WRITE_FIX, wrong

HALF = {"context_tokens": 60_000, "cost_usd": 1.0}
FULL = {"context_tokens": 141_000, "cost_usd": 2.0}


@pytest.fixture(scope="module")
def story(tmp_path_factory, prefect_server):
    """One run that fills its context in the second iteration and is finished by its second session."""
    from buildloop.request import BuildRequest
    from buildloop.rundir import RunDir
    from flows.build_loop import build_loop
    from tests.support.repos import GREEN, make_repo
    from tests.support.scripts import write_script

    place = tmp_path_factory.mktemp("seed000")
    repo = make_repo(place / "repo", GREEN | {"calc.py": "def add(a, b):\n    return a - b\n"})
    rules = (
        {"when": {"call": 1}, "do": [wrong(1)], "usage": HALF, "say": "first idea"},
        {"when": {"call": 2}, "do": [wrong(2)], "usage": FULL, "say": "second idea"},
        {"when": {"session": 2, "prompt": "Previous Session"}, "do": [WRITE_FIX], "usage": HALF},
    )
    request = BuildRequest(
        goal="make the tests pass",
        repo=str(repo),
        test=("python -m unittest -q",),
        agent="scripted",
        agent_script=str(write_script(place / "agent.json", *rules)),
        state_dir=str(place / "state"),
        run_id="seed000",
    )
    result = build_loop(request, return_state=True).result()
    run = RunDir(request.run_dir)
    return result, run, list(read_events(run.path / "events.jsonl"))


def of_type(events: list[dict], name: str) -> list[dict]:
    return [event for event in events if event["type"] == name]


def test_the_loop_breaks_with_status_context_exhaustion_when_the_threshold_is_crossed(story):
    _, run, events = story
    (restart,) = of_type(events, "loop.restart")
    assert (restart["reason"], restart["iteration"]) == ("context_exhaustion", 2)
    assert "Status: context_exhaustion" in (run.path / "context-summary.md").read_text()


def test_the_break_comes_after_commit_and_gate(story):
    """The full iteration is kept, tested and diagnosed like any other."""
    _, run, events = story
    full = run.iterations()[2]
    assert full.agent.checkpoint.changed
    assert full.gate.failing_count == 1
    order = [event["type"] for event in events]
    second_end = [i for i, event in enumerate(events) if event["type"] == "loop.iteration_complete"][1]
    assert second_end < order.index("loop.restart")


def test_context_exhaustion_is_restartable_and_the_run_continues(story):
    result, run, _ = story
    assert (result.reason, result.sessions, result.iterations) == (StopReason.COMPLETE, 2, 3)
    assert [one.session for one in run.iterations()] == [1, 1, 1, 2]


def test_the_summary_is_in_the_prompt_of_the_fresh_session_and_only_there(story):
    _, run, _ = story
    prompts = [(run.path / "iterations" / name / "prompt.md").read_text() for name in ("1-1", "1-2", "2-3")]
    summary = (run.path / "context-summary.md").read_text().strip()
    assert [summary in prompt for prompt in prompts] == [False, False, True]
    assert "## Your Goal\n\nmake the tests pass\n" in prompts[2]


def test_the_summary_tells_goal_iteration_files_errors_and_test_status(story):
    _, run, _ = story
    summary = (run.path / "context-summary.md").read_text()
    assert len(summary) <= 2001
    for fact in ("make the tests pass", "Iteration: 2/", "- calc.py", "test_add", "1 failing", "second idea"):
        assert fact in summary
    assert (run.path / "restart-1" / "context-summary.md").read_text() == summary


def test_loop_context_usage_is_emitted_once_an_iteration_with_usage_pct(story):
    usages = of_type(story[2], "loop.context_usage")
    assert [(event["iteration"], event["usage_pct"], event["threshold"]) for event in usages] == [
        (1, 30, 70),
        (2, 70, 70),
        (3, 30, 70),
    ]


def test_loop_context_exhaustion_warning_is_emitted_when_the_threshold_is_crossed(story):
    (warning,) = of_type(story[2], "loop.context_exhaustion_warning")
    assert (warning["iteration"], warning["usage_pct"], warning["window"]) == (2, 70, 200_000)
    assert warning["input_tokens"] + warning["output_tokens"] == 141_000


def test_loop_context_exhaustion_restart_is_emitted_on_restart(story):
    (restart,) = of_type(story[2], "loop.context_exhaustion_restart")
    assert (restart["restart"], restart["prev_iteration"], restart["iteration"]) == (1, 2, 0)


def test_what_both_sessions_cost_is_in_the_result(story):
    assert story[0].usage.cost_usd == pytest.approx(4.0)
