"""The process runner: limits hold, exit codes are told, nothing that was started outlives its command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from buildloop.cancel import ask_to_stop, stoppable
from buildloop.errors import RunCancelled
from buildloop.guarded import guards_kept
from buildloop.process import MARK, ProcessResult, run_process, sweep
from buildloop.redact import redactor
from tests.support.waiting import alive, content, eventually

# These wait for real processes to end or to be ended.
pytestmark = pytest.mark.slow

PYTHON = sys.executable


@pytest.fixture
def execute(tmp_path):
    def run(*argv: str, **options: object) -> ProcessResult:
        given = {
            "cwd": tmp_path,
            "environment": dict(os.environ),
            "mark": f"test-{tmp_path.name}",
            "stdout": tmp_path / "out",
            "redact": redactor({}),
            "timeout": 60,
        }
        return run_process(argv, **{**given, **options})

    return run


def python(code: str) -> tuple[str, ...]:
    return (PYTHON, "-I", "-S", "-c", textwrap.dedent(code))


@pytest.mark.parametrize("code", [0, 1, 2, 77, 255])
def test_the_exit_code_is_the_commands_own(execute, code):
    assert execute("sh", "-c", f"exit {code}").exit_code == code


def test_a_signal_is_128_plus_its_number(execute):
    assert execute("sh", "-c", "kill -SEGV $$").exit_code == 128 + signal.SIGSEGV


def test_not_found_is_127_and_not_executable_is_126_with_a_reason(execute, tmp_path):
    (tmp_path / "script").write_text("#!/bin/sh\n")
    assert execute("no-such-program").exit_code == 127
    assert "cannot run no-such-program" in content(tmp_path / "out")
    assert execute(str(tmp_path / "script")).exit_code == 126


def test_arguments_never_pass_through_a_shell(execute, tmp_path):
    execute("echo", "$(touch pwned)", "`touch pwned`", "; touch pwned")
    assert content(tmp_path / "out") == "$(touch pwned) `touch pwned` ; touch pwned\n"
    assert not (tmp_path / "pwned").exists()


def test_both_streams_share_one_file_or_have_one_each(execute, tmp_path):
    execute("sh", "-c", "echo one; echo two >&2")
    assert content(tmp_path / "out") == "one\ntwo\n"
    execute("sh", "-c", "echo one; echo two >&2", stderr=tmp_path / "err")
    assert (content(tmp_path / "out"), content(tmp_path / "err")) == ("one\n", "two\n")


def test_stdin_is_the_given_file_and_otherwise_empty(execute, tmp_path):
    """A megabyte goes through: nothing is passed as an argument or in the environment."""
    (tmp_path / "prompt").write_text("x" * 2**20)
    execute("wc", "-c", stdin=tmp_path / "prompt")
    assert content(tmp_path / "out").strip() == str(2**20)
    execute("wc", "-c")
    assert content(tmp_path / "out").strip() == "0"


def test_the_time_limit_ends_the_command(execute):
    result = execute("sleep", "600", timeout=0.2)
    assert result.timed_out
    assert not result.idle
    assert result.exit_code == 128 + signal.SIGTERM


def test_a_command_that_stops_its_guard_meets_the_limit_all_the_same(execute, monkeypatch):
    monkeypatch.setattr("buildloop.guarded.GUARD_SECONDS", 0.2)
    result = execute("sh", "-c", "kill -STOP $PPID; exec sleep 600", timeout=0.2, grace=0.1)
    assert (result.timed_out, result.exit_code) == (True, 128 + signal.SIGKILL)


def test_silence_over_the_idle_limit_ends_the_command(execute):
    result = execute("sleep", "600", idle_timeout=0.2)
    assert result.timed_out
    assert result.idle


def test_output_keeps_an_idle_limit_from_striking(execute):
    """It talks longer than the limit, and a busy machine may hold it up a long while between two words."""
    chatty = "n=0; while test $n -lt 35; do echo; sleep 0.1; n=$((n + 1)); done"
    assert not execute("sh", "-c", chatty, idle_timeout=3).timed_out


def test_who_ignores_the_request_to_stop_is_killed(execute):
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    result = execute(*python(stubborn), timeout=0.5, grace=0.1)
    assert result.timed_out
    assert result.exit_code == 128 + signal.SIGKILL


def test_who_stops_when_asked_may_clean_up(execute, tmp_path):
    polite = """
        import pathlib, signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path("cleaned").touch(), sys.exit(3)))
        pathlib.Path("ready").touch()
        time.sleep(600)
    """

    def ask() -> None:
        eventually((tmp_path / "ready").exists)
        ask_to_stop(tmp_path, "a test")

    asking = threading.Thread(target=ask)
    with stoppable(tmp_path):
        asking.start()
        with pytest.raises(RunCancelled, match="a test"):
            execute(*python(polite))
    asking.join()
    assert (tmp_path / "cleaned").exists()


# A grandchild in a session of its own with both streams closed: a signal to the process group misses it.
RUNAWAY = """
    import os, pathlib, subprocess, sys, time
    child = subprocess.Popen(["sleep", "600"], start_new_session=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pathlib.Path("pid").write_text(str(child.pid))
    {ending}
"""


@pytest.mark.parametrize("ending", ["sys.exit(0)", "sys.exit(1)", "time.sleep(600)", "os.abort()"])
def test_a_runaway_in_its_own_session_dies_with_the_command(execute, tmp_path, ending):
    execute(*python(RUNAWAY.format(ending=ending)), timeout=1)
    assert not alive(int(content(tmp_path / "pid")))


def test_a_double_forked_daemon_dies_with_the_command(execute, tmp_path):
    execute(
        "sh",
        "-c",
        "(setsid sh -c 'echo $$ > pid; exec sleep 600' >/dev/null 2>&1 &) ; while [ ! -s pid ]; do :; done",
    )
    assert not alive(int(content(tmp_path / "pid")))


def test_everything_dies_when_buildloop_itself_is_killed(tmp_path):
    """SIGKILL gives no chance to clean up; the guard notices and does it."""
    code = f"""
        import os, pathlib
        from buildloop.process import run_process
        from buildloop.redact import redactor
        run_process(["sh", "-c", "echo $$ > pid; (setsid sleep 600 & echo $! > pid2); sleep 600"],
            cwd=pathlib.Path({str(tmp_path)!r}), environment=dict(os.environ), mark="m",
            stdout=pathlib.Path({str(tmp_path / "out")!r}), redact=redactor({{}}), timeout=600)
    """
    root = str(Path(__file__).parents[2])
    parent = subprocess.Popen([PYTHON, "-c", textwrap.dedent(code)], env={**os.environ, "PYTHONPATH": root})
    pids = [int(eventually(lambda name=name: content(tmp_path / name))) for name in ("pid", "pid2")]
    parent.kill()
    parent.wait()
    assert eventually(lambda: not any(alive(pid) for pid in pids))


def test_sweep_kills_what_carries_the_mark_and_nothing_else(tmp_path):
    mark = f"sweep-{tmp_path.name}-{os.getpid()}"
    marked = subprocess.Popen(["sleep", "600"], env={**os.environ, MARK: mark})
    other = subprocess.Popen(["sleep", "600"], env={**os.environ, MARK: f"{mark}-other"})
    try:
        eventually(lambda: marked.pid in sweep(mark))
        assert marked.wait() == -signal.SIGKILL
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_an_interrupt_while_waiting_ends_the_command_first(execute, tmp_path):
    """Ctrl-C travels as KeyboardInterrupt; the command is gone before it comes out."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    tell = f"echo $$ > pid; kill -USR1 {os.getpid()}; exec sleep 600"
    try:
        with pytest.raises(KeyboardInterrupt):
            execute("sh", "-c", tell)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not alive(int(content(tmp_path / "pid")))


def test_a_command_inherits_nothing_but_its_three_streams(execute, tmp_path):
    execute("sh", "-c", "exec ls -1 /proc/$$/fd")
    assert content(tmp_path / "out").split() == ["0", "1", "2", "3"], "3 is the folder that ls reads"


def test_commands_of_a_run_share_the_process_that_starts_their_guards(execute, tmp_path):
    """A guard is the parent of its command, and the process that all guards come from is the parent of that one."""
    ancestor = "read -r _ _ _ parent _ < /proc/$PPID/stat; echo $parent"
    with guards_kept(f"test-{tmp_path.name}"):
        seen = []
        for _ in range(2):
            assert execute("sh", "-c", ancestor).exit_code == 0
            seen.append(int(content(tmp_path / "out")))
        assert seen[0] == seen[1]
        assert alive(seen[0])
    assert not alive(seen[0])


def test_a_command_that_kills_where_its_guards_come_from_hurts_only_itself(execute, tmp_path):
    kill = "read -r _ _ _ parent _ < /proc/$PPID/stat; kill -KILL $parent; exit 5"
    with guards_kept(f"test-{tmp_path.name}"):
        assert execute("sh", "-c", kill).exit_code == 5
        assert execute("sh", "-c", "exit 6").exit_code == 6


def test_a_command_that_stops_where_its_guards_come_from_holds_up_nothing(execute, tmp_path, monkeypatch):
    monkeypatch.setattr("buildloop.guarded.BEGIN_SECONDS", 5.0)
    stop = "read -r _ _ _ parent _ < /proc/$PPID/stat; kill -STOP $parent; exit 5"
    with guards_kept(f"test-{tmp_path.name}"):
        assert execute("sh", "-c", stop).exit_code == 5
        assert execute("sh", "-c", "exit 6").exit_code == 6
