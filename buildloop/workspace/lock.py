"""One run, one writer."""

from __future__ import annotations

import contextlib
import fcntl
import os
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
            owner = os.pread(descriptor, 64, 0).decode(errors="replace").strip() or "unknown"
            raise RunLocked(
                f"run {run_dir.name} is being worked on by process {owner}; wait for it, or stop it first"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


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
