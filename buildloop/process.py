"""Starts the agent and the gate: own session, time limits, output to capped files, nothing left behind."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from buildloop.cancel import check_stop
from buildloop.capture import Capture
from buildloop.redact import Redactor
from buildloop.sandbox import NO_SANDBOX, Sandbox

GUARD = Path(__file__).with_name("guard.py")
MARK = "_BUILDLOOP_MARK"
GRACE_SECONDS = 3.0
# What the guard needs beyond the grace to end all that it holds; one that was stopped never does.
GUARD_SECONDS = 10.0
POLL_SECONDS = 0.02
STOP_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a process ended. `exit_code` follows the shell: 128 + n for signal n."""

    exit_code: int
    seconds: float
    timed_out: bool = False
    idle: bool = False


def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    mark: str,
    stdout: Path,
    redact: Redactor,
    stderr: Path | None = None,
    stdin: Path | None = None,
    timeout: float,
    idle_timeout: float | None = None,
    grace: float = GRACE_SECONDS,
    sandbox: Sandbox = NO_SANDBOX,
) -> ProcessResult:
    """Run `argv` to its end or its limit. Without `stderr` both streams go to `stdout`.

    `mark` goes into the environment of everything that is started, so that `sweep` finds what even the
    guard could not hold on to. Raises RunCancelled when the run is asked to stop meanwhile.
    """
    started = time.monotonic()
    argv, environment = sandbox.wrap(argv, cwd, environment, mark), sandbox.environment(environment)
    with (
        _open_stdin(stdin) as source,
        _control_pipe() as (held, given),
        Capture(stdout, redact) as out,
        contextlib.ExitStack() as stack,
    ):
        err = out if stderr is None else stack.enter_context(Capture(stderr, redact))
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARD), str(given), str(grace), *argv],
            cwd=cwd,
            env={**environment, MARK: mark},
            stdin=source,
            stdout=out.write_end,
            stderr=err.write_end,
            pass_fds=(given,),
            start_new_session=True,
        )
        out.start()
        err.start()
        os.close(given)
        try:
            timed_out, idle = _wait(process, (out, err), started, timeout, idle_timeout)
        finally:
            held.close()
            if _end_of(process, grace + GUARD_SECONDS) < 0:
                sweep(mark)  # the guard was killed: by us, by the kernel for want of memory, by its own child
            sandbox.end(mark)
    code = process.returncode
    return ProcessResult(code if code >= 0 else 128 - code, time.monotonic() - started, timed_out, idle)


def sweep(mark: str) -> list[int]:
    """Kill every process that carries `mark`; what a killed run left behind ends here."""
    killed: list[int] = []
    while found := [process for process in _marked(mark) if process.pid not in killed]:
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
            killed.append(process.pid)
    return killed


def _wait(
    process: subprocess.Popen[bytes],
    captures: tuple[Capture, Capture],
    started: float,
    timeout: float,
    idle_timeout: float | None,
) -> tuple[bool, bool]:
    with _exit_watch(process.pid) as ended_within:
        while True:
            check_stop()
            now = time.monotonic()
            if ended_within(max(0.0, min(STOP_POLL_SECONDS, started + timeout - now))):
                process.wait()
                return False, False
            now = time.monotonic()
            if now - started >= timeout:
                return True, False
            quiet_since = max(started, *(capture.last_output for capture in captures))
            if idle_timeout is not None and now - quiet_since >= idle_timeout:
                return True, True


@contextlib.contextmanager
def _exit_watch(pid: int) -> Iterator[Callable[[float], bool]]:
    """Asks whether our child has ended, or ends within so many seconds; on Linux the kernel wakes us at that moment."""
    if not hasattr(os, "pidfd_open"):
        yield lambda seconds: _polled(pid, seconds)
        return
    descriptor, ready = os.pidfd_open(pid), select.poll()
    ready.register(descriptor, select.POLLIN)
    try:
        yield lambda seconds: bool(ready.poll(seconds * 1000))
    finally:
        os.close(descriptor)


def _polled(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() >= end:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _end_of(process: subprocess.Popen[bytes], seconds: float) -> int:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


@contextlib.contextmanager
def _open_stdin(path: Path | None) -> Iterator[int]:
    descriptor = os.open(path or os.devnull, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class _Held:
    """Our end of the control pipe: as long as it is open, the guard lets the command run."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextlib.contextmanager
def _control_pipe() -> Iterator[tuple[_Held, int]]:
    read_end, write_end = os.pipe()
    held = _Held(write_end)
    try:
        yield held, read_end
    finally:
        held.close()


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == mark:
                yield process
        except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            continue
