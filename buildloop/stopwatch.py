"""How long a run has worked, over all its processes. The time between a crash and the resume does not count, nor does
the time it waits for a person or for an agent that has said when it will answer again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from buildloop.decode import from_json
from buildloop.files import write_json

WORKED_FILE = "worked.json"


@dataclass(frozen=True, slots=True)
class Watch:
    """`before` was worked until `since`; a watch that is held has no `since`."""

    before: float
    since: float | None

    @property
    def seconds(self) -> float:
        return self.before + (time.monotonic() - self.since if self.since is not None else 0.0)


# The runs this process has taken over.
_watches: dict[Path, Watch] = {}


def start_stopwatch(run_dir: Path) -> None:
    _watches[run_dir] = Watch(_read(run_dir), time.monotonic())


def worked_seconds(run_dir: Path) -> float:
    return _watches[run_dir].seconds if run_dir in _watches else _read(run_dir)


def save_stopwatch(run_dir: Path) -> None:
    write_json(run_dir / WORKED_FILE, {"seconds": round(worked_seconds(run_dir), 1)}, view=True)


def hold_stopwatch(run_dir: Path) -> None:
    """Until `release_stopwatch` nothing is counted."""
    if run_dir in _watches:
        _watches[run_dir] = Watch(worked_seconds(run_dir), None)


def release_stopwatch(run_dir: Path) -> None:
    if run_dir in _watches:
        _watches[run_dir] = Watch(worked_seconds(run_dir), time.monotonic())


@contextlib.contextmanager
def not_counted(run_dir: Path) -> Iterator[None]:
    hold_stopwatch(run_dir)
    try:
        yield
    finally:
        release_stopwatch(run_dir)


def _read(run_dir: Path) -> float:
    try:
        return float(from_json((run_dir / WORKED_FILE).read_text())["seconds"])
    except (FileNotFoundError, ValueError, KeyError, TypeError, OverflowError):
        return 0.0
