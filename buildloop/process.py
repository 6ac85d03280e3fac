"""Starts the agent and the gate: own session, time limits, output to capped files, nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from buildloop.cancel import check_stop
from buildloop.capture import Capture
from buildloop.guarded import MARK, Guarded, Order, guarded
from buildloop.redact import Redactor
from buildloop.sandbox import NO_SANDBOX, Sandbox

GRACE_SECONDS = 3.0
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
        Capture(stdout, redact) as out,
        contextlib.ExitStack() as stack,
    ):
        err = out if stderr is None else stack.enter_context(Capture(stderr, redact))
        streams = (source, out.write_end, err.write_end)
        order = Order(argv, cwd, {**environment, MARK: mark}, grace, streams)
        with guarded(order, mark) as command:
            out.start()
            err.start()
            try:
                timed_out, idle = _wait(command, (out, err), started, timeout, idle_timeout)
            finally:
                command.stop()
                if command.exit_code is None:
                    # The guard was stopped, or killed: by the kernel for want of memory, by its own child.
                    sweep(mark)
                sandbox.end(mark)
    code = 128 + signal.SIGKILL if command.exit_code is None else command.exit_code
    return ProcessResult(code, time.monotonic() - started, timed_out, idle)


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
    command: Guarded,
    captures: tuple[Capture, Capture],
    started: float,
    timeout: float,
    idle_timeout: float | None,
) -> tuple[bool, bool]:
    while True:
        check_stop()
        now = time.monotonic()
        if command.ends_within(max(0.0, min(STOP_POLL_SECONDS, started + timeout - now))):
            return False, False
        now = time.monotonic()
        if now - started >= timeout:
            return True, False
        quiet_since = max(started, *(capture.last_output for capture in captures))
        if idle_timeout is not None and now - quiet_since >= idle_timeout:
            return True, True


@contextlib.contextmanager
def _open_stdin(path: Path | None) -> Iterator[int]:
    descriptor = os.open(path or os.devnull, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == mark:
                yield process
        except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            continue
