"""Asking a run to stop, from anywhere that shares its run directory, and noticing that one was asked to.

A file is all it takes: it works across processes and machines, and it is there as long as nobody has acted on it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from buildloop.errors import RunCancelled
from buildloop.files import write_atomic

CANCEL_FILE = "cancel"

_watched: ContextVar[Path | None] = ContextVar("watched", default=None)


def ask_to_stop(run_dir: Path, who: str) -> None:
    write_atomic(run_dir / CANCEL_FILE, who + "\n")


@contextlib.contextmanager
def stoppable(run_dir: Path) -> Iterator[None]:
    """Within, `check_stop` raises as soon as this run is asked to stop. What was asked before does not count."""
    (run_dir / CANCEL_FILE).unlink(missing_ok=True)
    token = _watched.set(run_dir / CANCEL_FILE)
    try:
        yield
    finally:
        _watched.reset(token)


def check_stop() -> None:
    """Called wherever a run waits: for a process, for an agent's reset time."""
    wanted = _watched.get()
    if wanted is not None and wanted.exists():
        who = wanted.read_text(encoding="utf-8", errors="replace").strip()
        raise RunCancelled(f"Cancelled by {who}; agent and gate were stopped, finished iterations are kept.")
