"""One run, one writer: the second is refused, and a dead owner holds nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from buildloop.errors import RunLocked
from buildloop.workspace import lock
from buildloop.workspace.lock import is_running, run_lock
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]


def holder(folder: Path) -> subprocess.Popen[bytes]:
    code = f"""
        import pathlib, signal
        from buildloop.workspace.lock import run_lock
        with run_lock(pathlib.Path({str(folder)!r})):
            signal.pause()
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT)
    eventually(lambda: is_running(folder))
    return process


def test_a_second_writer_is_refused_and_told_who_the_first_is(tmp_path):
    owner = holder(tmp_path / "r1")
    try:
        with (
            pytest.raises(RunLocked, match=f"r1 is being worked on by process {owner.pid}"),
            run_lock(tmp_path / "r1"),
        ):
            pass
        assert is_running(tmp_path / "r1")
    finally:
        owner.kill()
        owner.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_owner_holds_nothing(tmp_path, number):
    owner = holder(tmp_path)
    owner.send_signal(number)
    owner.wait()
    assert not is_running(tmp_path)
    with run_lock(tmp_path):
        assert is_running(tmp_path)
    assert not is_running(tmp_path)


def test_an_error_inside_gives_the_run_free(tmp_path):
    with pytest.raises(KeyError), run_lock(tmp_path):
        raise KeyError
    assert not is_running(tmp_path)


def test_looking_leaves_no_trace(tmp_path):
    assert not is_running(tmp_path / "never-started")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """The lock file as another machine left it, on storage that does not show that machine's lock."""
    monkeypatch.setattr(lock, "SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(lock, "LOOK_SECONDS", 0.02)
    (tmp_path / "lock").write_text("77 another-machine")
    return tmp_path


def test_another_machine_that_gives_signs_of_life_keeps_its_run(elsewhere):
    ended = threading.Event()

    def live() -> None:
        while not ended.wait(0.05):
            os.utime(elsewhere / "lock")

    beating = threading.Thread(target=live)
    beating.start()
    try:
        with pytest.raises(RunLocked, match="process 77 on another-machine"), run_lock(elsewhere):
            pass
    finally:
        ended.set()
        beating.join()
    assert (elsewhere / "lock").read_text() == "77 another-machine"


def test_another_machine_that_is_silent_has_lost_its_run(elsewhere):
    with run_lock(elsewhere):
        assert (elsewhere / "lock").read_text().startswith(f"{os.getpid()} ")


def test_who_holds_a_run_gives_signs_of_life_and_lets_go_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "BEAT_SECONDS", 0.02)
    with run_lock(tmp_path):
        first = (tmp_path / "lock").stat().st_mtime_ns
        eventually(lambda: (tmp_path / "lock").stat().st_mtime_ns != first)
    assert (tmp_path / "lock").read_text() == ""
