"""One run, one writer: the second is refused, and a dead owner holds nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from buildloop.errors import RunLocked
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
