"""The list of finished iterations: read from the event log, robust against whatever stands in it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from buildloop.cli.display import Display, LiveLine
from buildloop.cli.event_lines import DOING, FINISHED, finished_line
from buildloop.events import EVENT_FIELDS, EventLog
from tests.support.waiting import eventually

DONE = {
    "iteration": 2,
    "max": 20,
    "session": 1,
    "agent": "command",
    "test_passed": False,
    "commits": 1,
    "status": "3 failing",
    "test_counts": [7, 10],
    "files": 2,
    "context_pct": 41,
}


def shown(path: Path, *write: object) -> str:
    """What a display prints that was there while `write` was called."""
    out = io.StringIO()
    with Display(path, Console(file=out, width=200, no_color=True), 20):
        for one in write:
            one()
    return out.getvalue()


def test_a_finished_iteration_is_one_line(tmp_path):
    log = EventLog(tmp_path / "events.jsonl", "r1")
    text = shown(log.path, lambda: log.emit("loop.iteration_complete", **DONE))
    assert text.count("\n") == 1
    for fact in ("iteration 2", "3 failing", "tests 7/10", "2 files changed", "context 41 %"):
        assert fact in text


def test_one_file_is_one_file(tmp_path):
    log = EventLog(tmp_path / "events.jsonl", "r1")
    text = shown(log.path, lambda: log.emit("loop.iteration_complete", **{**DONE, "files": 1}))
    assert "1 file changed" in text


def test_what_was_there_before_is_not_shown_again(tmp_path):
    log = EventLog(tmp_path / "events.jsonl", "r1")
    log.emit("loop.iteration_complete", **DONE)
    assert shown(log.path) == ""


def test_a_line_torn_by_a_crash_does_not_stop_the_display(tmp_path):
    """The first thing a resumed run writes is the end of that line."""
    log = EventLog(tmp_path / "events.jsonl", "r1")
    log.path.write_bytes(b'{"type": "loop.iteration_comp')
    text = shown(log.path, lambda: log.emit("loop.iteration_complete", **DONE))
    assert "3 failing" in text


def test_markup_in_the_data_is_text(tmp_path):
    log = EventLog(tmp_path / "events.jsonl", "r1")
    evil = "[/red] [bold]x[/bold] [link=http://x]y"
    text = shown(
        log.path,
        lambda: log.emit("loop.iteration_complete", **{**DONE, "status": evil}),
        lambda: log.emit("loop.degraded", what=evil, why=evil),
        lambda: log.emit(
            "loop.recovery_applied", mode="code_error", restart=0, action="rerun_tests", outcome=evil
        ),
        lambda: log.emit("loop.agent_waiting", iteration=1, attempt=1, seconds=3, error=evil),
    )
    assert text.count(evil) >= 4


def test_the_live_line_tells_where_the_run_stands(tmp_path):
    line = LiveLine(20)
    line.take({"type": "loop.iteration_complete", "cost_usd": 1.5, "tokens": 12_345, **DONE})
    for fact in ("session 1", "iteration 2/20", "tests 7/10", "context 41 %", "12,345 tokens", "$1.50"):
        assert fact in line.text()


def test_only_known_events_are_described():
    assert set(DOING) | set(FINISHED) <= set(EVENT_FIELDS)
    assert finished_line({"type": "loop.context_usage"}) is None


@pytest.mark.parametrize(
    "half", [b'{"type": "loop.degraded"', b'{"type": "loop.degraded", "what": "x", "why": "y"}']
)
def test_a_line_that_is_still_being_written_is_waited_for(tmp_path, half):
    path, out = tmp_path / "events.jsonl", io.StringIO()
    path.write_bytes(b"")
    whole = json.dumps({"type": "loop.degraded", "what": "x", "why": "y"}).encode() + b"\n"
    with Display(path, Console(file=out, width=200, no_color=True), 20):
        path.write_bytes(half)
        path.write_bytes(whole)
        eventually(lambda: "x: y" in out.getvalue())
    assert out.getvalue().count("x: y") == 1
