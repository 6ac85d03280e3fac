"""One run, one writer."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from buildloop.errors import RunLocked


@contextlib.contextmanager
def run_lock(run_dir: Path) -> Iterator[None]:
    """Hold the run. The kernel lets go when this process dies, however it dies."""
    run_dir.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(run_dir / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 300, 0).decode(errors="replace").strip().replace(" ", " on ", 1)
            raise RunLocked(
                f"run {run_dir.name} is being worked on by process {owner or 'unknown'}; wait for it, or stop it "
                f"with 'buildloop cancel {run_dir.name}'"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def local_owner(run_dir: Path) -> int | None:
    """The process on this machine that holds the run, if there is one."""
    if not is_running(run_dir):
        return None
    words = (run_dir / "lock").read_text(errors="replace").split()
    pid, host = (words[0] if words else ""), (words[1] if len(words) > 1 else "")
    return int(pid) if pid.isdigit() and host == socket.gethostname() else None


def is_running(run_dir: Path) -> bool:
    """Whether some process holds the run right now. Only looks: nothing is created or kept."""
    try:
        descriptor = os.open(run_dir / "lock", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
