"""What counts as worked: not the time a run waits for a person, nor for an agent that said when it answers again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from buildloop import stopwatch


class Clock:
    """Only moves when somebody sleeps."""

    now = 1000.0

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(stopwatch, "time", SimpleNamespace(monotonic=clock.read))
    return clock


def test_what_is_held_is_not_counted(clock, tmp_path):
    stopwatch.start_stopwatch(tmp_path)
    clock.sleep(10)
    with stopwatch.not_counted(tmp_path):
        clock.sleep(3600)
        stopwatch.hold_stopwatch(tmp_path)
        assert stopwatch.worked_seconds(tmp_path) == 10
    clock.sleep(5)
    stopwatch.release_stopwatch(tmp_path)
    stopwatch.save_stopwatch(tmp_path)
    stopwatch.start_stopwatch(tmp_path)
    assert stopwatch.worked_seconds(tmp_path) == 15


def test_a_run_nobody_works_on_here_can_be_held_too(tmp_path):
    with stopwatch.not_counted(tmp_path):
        assert stopwatch.worked_seconds(tmp_path) == 0


def test_waiting_for_an_agent_is_not_work(clock, tmp_path, monkeypatch, request_for, repo):
    from tasks import wait as waiting

    fake = SimpleNamespace(time=clock.read, sleep=clock.sleep, strftime=lambda *_: "12:00", localtime=float)
    monkeypatch.setattr(waiting, "time", fake)
    request = request_for(repo)
    stopwatch.start_stopwatch(request.run_dir)
    waiting.wait.fn(waiting.WaitInput(request, 1, 1, clock.now + 7200, "limited"))
    assert clock.now == 8200
    assert stopwatch.worked_seconds(request.run_dir) == 0


def test_waiting_for_a_person_is_not_work(clock, tmp_path, monkeypatch):
    from buildloop.people.answer import Answer, write_answer
    from tasks import ask

    def answer_next_morning(seconds: float) -> None:
        clock.sleep(40_000)
        write_answer(tmp_path, "1-stuck", Answer())

    monkeypatch.setattr(ask, "time", SimpleNamespace(sleep=answer_next_morning))
    stopwatch.start_stopwatch(tmp_path)
    assert ask._waited_for(tmp_path, "1-stuck") == Answer()
    assert stopwatch.worked_seconds(tmp_path) == 0
