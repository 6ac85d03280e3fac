"""Runs commands and lets nothing they started outlive them.

    python -I -S guard.py SOCKET_FD

Between buildloop and the agent or gate stands a guard. Agents run their tools in sessions of their own, so a signal
to the process group misses them. Here orphans become the guard's children (Linux sub-reaper), so every descendant
can be found and killed: when the command ends, when buildloop closes the guard's socket, and when buildloop itself is
killed, which closes that socket too.

This process starts once in a run and waits for orders; each is carried out by a copy of it, because starting Python
takes longer than all the rest. What it reads and writes is in `guarded.py`. Only the standard library, and little of
it.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
NOT_EXECUTABLE, NOT_FOUND = 126, 127
POLL_SECONDS = 0.05
LENGTH_BYTES = 8
DESCRIPTORS = 4


def main() -> int:
    orders = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a guard ended: it says so itself
    while order := _next_order(orders):
        body, (job, *streams) = order
        if os.fork() == 0:
            orders.close()
            _carry_out(body, socket.socket(fileno=job), streams)
        for descriptor in (job, *streams):
            os.close(descriptor)
    return 0


def _next_order(orders: socket.socket) -> tuple[bytes, list[int]] | None:
    """None when buildloop has gone."""
    header, descriptors, _, _ = socket.recv_fds(orders, LENGTH_BYTES, DESCRIPTORS)
    if not header:
        return None
    length = int.from_bytes(header, "big")
    body = bytearray()
    while len(body) < length:
        part = orders.recv(length - len(body))
        if not part:
            return None
        body += part
    return bytes(body), descriptors


def _carry_out(body: bytes, job: socket.socket, streams: list[int]) -> None:
    """In the copy: be the guard of one command, and say how it ended."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    grace, count, cwd, *words = body.split(b"\0")
    argv, environment = words[: int(count)], words[int(count) :]
    job.sendall(b"begun\n")
    code = _guard(job.fileno(), float(grace), cwd, argv, environment, streams)
    try:
        job.sendall(b"%d\n" % code)
    finally:
        os._exit(0)


def _guard(
    control: int, grace: float, cwd: bytes, argv: list[bytes], environment: list[bytes], streams: list[int]
) -> int:
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    child = os.fork()
    if child == 0:
        os.close(control)
        _become(cwd, argv, environment, streams)
    for descriptor in streams:
        os.close(descriptor)
    asked_to_stop = not _wait(child, control)
    if asked_to_stop:
        _signal_all(signal.SIGTERM)
        _wait(child, None, time.monotonic() + grace)
    status = _reap(child)
    while _has_children() and _signal_all(signal.SIGKILL):
        status = _reap(child, status)
        time.sleep(0.01)
    status = _reap(child, status)
    if status is None:
        return 128 + signal.SIGKILL
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _become(cwd: bytes, argv: list[bytes], environment: list[bytes], streams: list[int]) -> None:
    """In the child: leave the guard's session, die if the guard is killed, and become the command."""
    for place, descriptor in enumerate(streams):
        os.dup2(descriptor, place)
        os.close(descriptor)
    os.setsid()
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.chdir(cwd)
        os.execvpe(argv[0], argv, dict(one.split(b"=", 1) for one in environment))  # noqa: S606 (no shell is the point)
    except OSError as error:
        os.write(2, b"buildloop: cannot run %b: %b\n" % (argv[0], str(error.strerror).encode()))
        os._exit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE)


def _wait(child: int, control: int | None, deadline: float | None = None) -> bool:
    """True when the child ended, False when we were asked to stop or the deadline came first."""
    watch = _exit_descriptor(child)
    readable = [fd for fd in (watch, control) if fd is not None]
    while True:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        pause = left if watch is not None else min(POLL_SECONDS, POLL_SECONDS if left is None else left)
        ready, _, _ = select.select(readable, [], [], pause)
        if control is not None and control in ready:
            return False
        if _ended(child):
            return True
        if deadline is not None and time.monotonic() >= deadline:
            return False


def _exit_descriptor(child: int) -> int | None:
    return os.pidfd_open(child) if hasattr(os, "pidfd_open") else None


def _ended(child: int) -> bool:
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, child, options) is not None


def _reap(child: int, known: int | None = None) -> int | None:
    """Collect every ended descendant; the child's own status is the one we report."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return known
        if pid == 0:
            return known
        if pid == child:
            known = status


def _has_children() -> bool:
    """Without children there are no descendants either: orphans become ours. Elsewhere than on Linux we must look."""
    if sys.platform != "linux":
        return True
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _signal_all(number: int) -> bool:
    reached = False
    for pid in _descendants(os.getpid()):
        try:
            os.kill(pid, number)
            reached = True
        except (ProcessLookupError, PermissionError):
            continue  # gone, or another user's: nothing we can do
    return reached


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208 (pathlib costs start-up time)
    except FileNotFoundError:
        return []
    for name in names:
        if name.isdigit() and (parent := _living_parent(name)) is not None:
            children.setdefault(parent, []).append(int(name))
    found, queue = [], [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def _living_parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:  # noqa: PTH123 (pathlib costs start-up time)
            state, parent = stream.read().rpartition(b")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state == b"Z" else int(parent)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
