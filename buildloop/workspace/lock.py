"""One run, one writer: on one machine by the kernel's lock, between machines also by a sign of life.

Not every shared file system shows the locks of one machine to another. So whoever holds a run touches its lock file,
and whoever finds the name of another machine in it watches for a moment before taking over. No clocks are compared.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from buildloop.errors import RunLocked

LOCK, BEGUN = "lock", "begun"
BEAT_SECONDS = 2.0
SILENCE_SECONDS = 3 * BEAT_SECONDS
LOOK_SECONDS = 0.2


@contextlib.contextmanager
def run_lock(run_dir: Path) -> Iterator[None]:
    """Hold the run. The kernel lets go when this process dies, however it dies."""
    with _held(run_dir, LOCK) as descriptor:
        _wait_for_silence(run_dir)
        _sign(descriptor)
        try:
            with _beating(descriptor):
                yield
        finally:
            os.ftruncate(descriptor, 0)


@contextlib.contextmanager
def begun(run_dir: Path) -> Iterator[None]:
    """Held by a command from its first moment to its last: also while it starts a server and nobody works yet."""
    with _held(run_dir, BEGUN) as descriptor:
        _sign(descriptor)
        yield
        os.ftruncate(descriptor, 0)


@contextlib.contextmanager
def _held(run_dir: Path, name: str) -> Iterator[int]:
    run_dir.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(run_dir / name, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _refusal(run_dir, os.pread(descriptor, 300, 0)) from None
        yield descriptor
    finally:
        os.close(descriptor)


def _sign(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}".encode(), 0)


def _refusal(run_dir: Path, owner: bytes) -> RunLocked:
    named = owner.decode(errors="replace").strip().replace(" ", " on ", 1) or "unknown"
    return RunLocked(
        f"run {run_dir.name} is being worked on by process {named}; wait for it, or stop it "
        f"with 'buildloop cancel {run_dir.name}'"
    )


@contextlib.contextmanager
def _beating(descriptor: int) -> Iterator[None]:
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT_SECONDS):
            with contextlib.suppress(OSError):  # a full or absent disk; the lock itself still holds
                os.utime(descriptor)

    watch = threading.Thread(target=beat, name="run-lock", daemon=True)
    watch.start()
    try:
        yield
    finally:
        ended.set()
        watch.join()


def _wait_for_silence(run_dir: Path) -> None:
    """Where another machine was the last to hold the run and did not let go of it: is it still there?"""
    owner, first = _look(run_dir)
    host = owner.split()[1:2]
    if not host or host[0].decode(errors="replace") == socket.gethostname():
        return
    end = time.monotonic() + SILENCE_SECONDS
    while time.monotonic() < end:
        time.sleep(LOOK_SECONDS)
        if _look(run_dir)[1] != first:
            raise _refusal(run_dir, owner)


def _look(run_dir: Path) -> tuple[bytes, int]:
    """Opened anew each time: that is when a network file system asks its server."""
    descriptor = os.open(run_dir / LOCK, os.O_RDONLY)
    try:
        return os.pread(descriptor, 300, 0), os.fstat(descriptor).st_mtime_ns
    finally:
        os.close(descriptor)


def local_owner(run_dir: Path) -> int | None:
    """The process on this machine that holds the run, if there is one."""
    held = next((name for name in (LOCK, BEGUN) if _is_held(run_dir / name)), None)
    if held is None:
        return None
    words = (run_dir / held).read_text(errors="replace").split()
    pid, host = (words[0] if words else ""), (words[1] if len(words) > 1 else "")
    return int(pid) if pid.isdigit() and host == socket.gethostname() else None


def is_running(run_dir: Path) -> bool:
    """Whether some process works on the run right now, or is about to. Only looks: nothing is created or kept."""
    return is_at_work(run_dir) or _is_held(run_dir / BEGUN)


def is_at_work(run_dir: Path) -> bool:
    return _is_held(run_dir / LOCK)


def _is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
