"""Clocks jump: after a suspend, by a correction, between machines. Durations and order do not come from them."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

import pytest

from buildloop import events, stopwatch
from buildloop.cancel import stoppable
from buildloop.events import EventLog, read_events
from buildloop.process import run_process
from buildloop.redact import redactor
from buildloop.rundir import RunDir, find_run
from tests.support.states import request

DAY = 86_400.0


@pytest.fixture
def clock(monkeypatch):
    """Set the time of day ahead or back; what counts seconds goes on as it was."""
    real = time.time

    def jump(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: real() + seconds)

        class Moved(datetime):
            @classmethod
            def now(cls, tz=None):
                return datetime.fromtimestamp(real() + seconds, tz or UTC)

        monkeypatch.setattr(events, "datetime", Moved)

    return jump


@pytest.mark.parametrize("seconds", [DAY, -DAY])
def test_the_time_a_run_has_worked_does_not_jump(clock, tmp_path, seconds):
    stopwatch.start_stopwatch(tmp_path)
    clock(seconds)
    assert 0 <= stopwatch.worked_seconds(tmp_path) < 60


@pytest.mark.parametrize("seconds", [DAY, -DAY])
def test_a_limit_neither_strikes_early_nor_never(clock, tmp_path, seconds):
    clock(seconds)
    with stoppable(tmp_path):
        result = run_process(
            ["sleep", "0.2"],
            cwd=tmp_path,
            environment=os.environ,
            mark="m",
            stdout=tmp_path / "out",
            redact=redactor({}),
            timeout=30,
        )
    assert (result.exit_code, result.timed_out) == (0, False)
    assert result.seconds < 30


def test_events_keep_their_order_when_the_clock_goes_back(clock, tmp_path):
    log = EventLog(tmp_path / "events.jsonl", "r1")
    log.emit("loop.resumed", iteration=1)
    clock(-DAY)
    log.emit("loop.resumed", iteration=2)
    told = list(read_events(log.path))
    assert [event["iteration"] for event in told] == [1, 2]
    assert told[1]["ts_epoch"] < told[0]["ts_epoch"]


def test_a_run_from_the_future_is_found_like_any_other(tmp_path):
    for name in ("r1", "r2"):
        RunDir(tmp_path / "runs" / name).save("request.json", request(run_id=name))
    ahead = (datetime.now(UTC) + timedelta(days=400)).timestamp()
    os.utime(tmp_path / "runs" / "r1" / "request.json", (ahead, ahead))
    assert find_run(tmp_path, "r2").run_id == "r2"
    assert find_run(tmp_path, None).run_id == "r1"
