"""The event log: a fixed envelope, a schema for every type, and nothing lost or invented."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.events import ENVELOPE, EVENT_FIELDS, EventLog, make_event, read_events

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 3, 4, 5, 6, 7, 890_000, tzinfo=UTC)
SEEDS = {
    "loop.context_usage": {"iteration", "input_tokens", "output_tokens", "usage_pct", "threshold"},
    "loop.context_exhaustion_warning": {
        "iteration",
        "usage_pct",
        "threshold",
        "input_tokens",
        "output_tokens",
        "window",
    },
    "loop.context_exhaustion_restart": {"restart", "prev_iteration", "iteration"},
    "loop.restart": {"restart", "max", "iteration", "reason"},
    "loop.stuckness_detected": {"signals", "count", "iteration", "reasons"},
    "error.actionability_scored": {"score", "error_count", "enhanced", "iteration"},
}


def emit_calls() -> list[tuple[str, ast.Call]]:
    """Every `….emit("type", …)` in the product, with the place it stands at."""
    found = []
    for path in sorted(
        path for folder in ("buildloop", "tasks", "flows") for path in (ROOT / folder).rglob("*.py")
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "emit"
            ):
                found.append((f"{path.relative_to(ROOT)}:{node.lineno}", node))
    return found


def test_every_emitted_type_is_in_the_schema_with_all_its_fields():
    """Read from the source, so that a branch no test walks through cannot break a run."""
    calls = emit_calls()
    assert len(calls) >= 10
    for where, call in calls:
        first = call.args[0]
        assert isinstance(first, ast.Constant), where
        given_fields = {keyword.arg for keyword in call.keywords}
        assert first.value in EVENT_FIELDS, where
        assert given_fields >= EVENT_FIELDS[first.value], where
        assert not given_fields & ENVELOPE, where


def test_every_type_of_the_schema_is_really_emitted():
    words = {
        node.value
        for folder in ("buildloop", "tasks", "flows")
        for path in (ROOT / folder).rglob("*.py")
        if path.name not in ("events.py", "event_lines.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
    }
    assert set(EVENT_FIELDS) <= words


@pytest.mark.parametrize("event_type", sorted(SEEDS))
def test_the_events_of_the_seeds_carry_the_fields_of_the_seeds(event_type):
    assert EVENT_FIELDS[event_type] >= SEEDS[event_type]


def test_the_envelope():
    event = make_event("loop.resumed", "r1", NOW, {"iteration": 3})
    assert event == {
        "ts": "2026-03-04T05:06:07.890Z",
        "ts_epoch": int(NOW.timestamp()),
        "type": "loop.resumed",
        "run_id": "r1",
        "iteration": 3,
    }


def test_an_unknown_type_is_refused():
    with pytest.raises(ValueError, match=r"loop\.resummed"):
        make_event("loop.resummed", "r1", NOW, {"iteration": 3})


def test_a_missing_field_is_refused():
    with pytest.raises(ValueError, match="lacks iteration"):
        make_event("loop.resumed", "r1", NOW, {})


@pytest.mark.parametrize("field", sorted(ENVELOPE))
def test_no_field_can_replace_the_envelope(field):
    """A field named `type` must not turn one event into another."""
    with pytest.raises(ValueError, match="reserved"):
        make_event("loop.resumed", "r1", NOW, {"iteration": 3, field: "loop.completed"})


@given(st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.lists(st.text()))
def test_any_value_comes_back_as_it_was(tmp_path_factory, value):
    """Carriage returns, colour codes, line separators, numbers written as text: all are data."""
    log = EventLog(tmp_path_factory.mktemp("log") / "events.jsonl", "r1")
    log.emit("loop.degraded", what=value, why="0123456")
    (event,) = read_events(log.path)
    assert (event["what"], event["why"]) == (value, "0123456")


def test_one_event_is_one_line(tmp_path):
    log = EventLog(tmp_path / "events.jsonl", "r1")
    log.emit("loop.degraded", what="a\nb\r\x1b[31m\u2028\x85", why="x")
    assert len(log.path.read_bytes().splitlines()) == 1
    assert len(log.path.read_text().splitlines()) == 1


def test_a_line_torn_by_a_crash_costs_only_itself(tmp_path):
    log = EventLog(tmp_path / "events.jsonl", "r1")
    log.emit("loop.resumed", iteration=1)
    with log.path.open("ab") as stream:
        stream.write(b'{"ts": "2026-01-01T00:00:00Z", "type": "loop.resu')
    assert [event["iteration"] for event in read_events(log.path)] == [1]
    log.emit("loop.resumed", iteration=2)
    assert [event["iteration"] for event in read_events(log.path)] == [1, 2]


def test_lines_that_are_no_events_are_passed_over(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'[]\n\n"x"\n\xff\xfe\n{"no": "type"}\n{"type": "loop.resumed"}\n')
    assert list(read_events(path)) == [{"type": "loop.resumed"}]
    assert list(read_events(tmp_path / "missing")) == []


WRITER = """
import pathlib, sys
from buildloop.events import EventLog
log = EventLog(pathlib.Path(sys.argv[1]), "r1")
for number in range(50):
    log.emit("loop.degraded", what=sys.argv[2], why="x" * (number * 100), iteration=number)
"""


def test_eight_writers_at_once_lose_nothing(tmp_path):
    path = tmp_path / "events.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(n)], cwd=ROOT) for n in range(8)
    ]
    assert [writer.wait() for writer in writers] == [0] * 8
    events = [json.loads(line) for line in path.read_text().splitlines()]
    expected = {(str(writer), number) for writer in range(8) for number in range(50)}
    assert {(event["what"], event["iteration"]) for event in events} == expected
    assert len(events) == 400
