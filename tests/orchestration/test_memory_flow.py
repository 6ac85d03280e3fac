"""Memory through the real flow: a second run knows the fix, and nothing memory does can harm a run."""

from __future__ import annotations

import json
import sqlite3

import pytest

from buildloop.events import read_events
from buildloop.memory.location import VARIABLE
from buildloop.result import StopReason
from tests.support.repos import GREEN, make_repo
from tests.support.scripts import WRITE_FIX, wrong

# The agent tries two wrong things before it finds the right one, unless the prompt shows what worked before.
SHOWN = {"when": {"prompt": r"Confirmed fix[^#]*\+    return a \+ b"}, "do": [WRITE_FIX], "say": "as before"}
LEARNING = (
    SHOWN,
    {"when": {"call": 1}, "do": [wrong(1)]},
    {"when": {"call": 2}, "do": [wrong(2)]},
    {"do": [WRITE_FIX], "say": "add() subtracted"},
)


@pytest.fixture
def memory(tmp_path, monkeypatch):
    path = tmp_path / "memory.db"
    monkeypatch.setenv(VARIABLE, str(path))
    return path


def rows(path, sql):
    return sqlite3.connect(path).execute(sql).fetchall()


def events_of(run, kind):
    return [event for event in read_events(run.path / "events.jsonl") if event["type"] == kind]


def test_a_second_run_sees_the_confirmed_fix_and_needs_fewer_iterations(play, memory):
    first, run = play(*LEARNING)
    assert (first.reason, first.iterations) == (StopReason.COMPLETE, 3)
    assert "Confirmed fix" not in (run.path / "iterations" / "1-1" / "prompt.md").read_text()
    second, again = play(*LEARNING)
    assert (second.reason, second.iterations) == (StopReason.COMPLETE, 1)
    prompt = (again.path / "iterations" / "1-1" / "prompt.md").read_text()
    assert "Confirmed fix (worked 1 of 1)" in prompt
    assert "add() subtracted" in prompt
    third, last = play(*LEARNING)
    assert third.iterations == 1
    assert "Confirmed fix (worked 2 of 2)" in (last.path / "iterations" / "1-1" / "prompt.md").read_text()


def test_the_remembered_change_is_the_net_one_with_its_commit(play, memory):
    result, _ = play(*LEARNING)
    ((summary, approach, commit, files),) = rows(
        memory, "SELECT summary, approach, commit_id, files FROM fixes"
    )
    assert "-    return a - b\n+    return a + b" in summary
    assert "try 2" not in summary
    assert (approach, commit, json.loads(files)) == ("add() subtracted", result.commit, ["calc.py"])


def test_suggestions_are_recorded_settled_and_exported(play, memory):
    _, run = play(*LEARNING)
    told = [json.loads(line) for line in (run.path / "suggestions.jsonl").read_text().splitlines()]
    assert [(one["iteration"], one["resolved"]) for one in told] == [(1, "false"), (2, "false"), (3, "true")]
    assert [event["id"] for event in events_of(run, "suggestion.recorded")] == [one["id"] for one in told]
    assert [event["resolved"] for event in events_of(run, "suggestion.resolved")] == [
        "false",
        "false",
        "true",
    ]


def test_another_repository_does_not_see_it_unless_memory_is_shared(play, memory, tmp_path):
    play(*LEARNING)
    bug = GREEN | {"calc.py": "def add(a, b):\n    return a - b\n", "README": "another project\n"}
    other = make_repo(tmp_path / "other", bug)
    assert play(*LEARNING, where=other, max_iterations=1)[0].reason is not StopReason.COMPLETE
    assert play(*LEARNING, where=other, shared_memory=True)[0].iterations == 1


def test_a_replayed_run_has_the_same_prompt_and_tells_nothing_twice(play, build, memory):
    """The flow runs again from the top, as after a crash; memory has grown meanwhile."""
    result, run = play(*LEARNING, max_iterations=2)
    assert result.reason is StopReason.MAX_ITERATIONS
    prompts = {path: path.read_text() for path in sorted(run.path.glob("iterations/*/prompt.md"))}
    before = (
        rows(memory, "SELECT sum(seen) FROM failures"),
        rows(memory, "SELECT subject, tried FROM records"),
    )
    play(*LEARNING)
    build(run.request())
    assert {path: path.read_text() for path in prompts} == prompts
    assert len(events_of(run, "suggestion.recorded")) == 2
    assert len(rows(memory, f"SELECT 1 FROM sightings WHERE run = '{run.run_id}'")) == 3
    assert before[0] == [(3,)]


@pytest.mark.parametrize("damage", ["no database", "not writable", "wrong address"])
def test_memory_that_cannot_be_used_costs_one_event_and_nothing_else(play, memory, monkeypatch, damage):
    if damage == "no database":
        memory.write_text("no database " * 500)
    elif damage == "not writable":
        memory.mkdir()
    else:
        monkeypatch.setenv(VARIABLE, "oracle://somewhere")
    result, run = play(*LEARNING)
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 3)
    assert [event["what"] for event in events_of(run, "loop.degraded")] == ["memory"]


def test_memory_that_is_switched_off_leaves_no_trace(play, memory, monkeypatch):
    monkeypatch.setenv(VARIABLE, "off")
    _, run = play(*LEARNING)
    assert not memory.exists()
    assert events_of(run, "loop.degraded") == []
    assert "Historical context" not in (run.path / "iterations" / "1-1" / "prompt.md").read_text()


def test_agents_do_not_see_where_memory_is(play, memory):
    look = {"run": ["python", "-c", "import os; print(sorted(k for k in os.environ if 'MEMORY' in k))"]}
    _, run = play({"do": [look, WRITE_FIX]})
    assert (run.path / "iterations" / "1-1" / "agent.err").read_text().strip() == "[]"
