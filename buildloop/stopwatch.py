"""How long a run has worked, over all its processes: the time between a crash and the resume does not count."""

from __future__ import annotations

import time
from pathlib import Path

from buildloop.decode import from_json
from buildloop.files import write_json

WORKED_FILE = "worked.json"

# When this process took a run over, and what was worked on it before.
_taken_over: dict[Path, tuple[float, float]] = {}


def start_stopwatch(run_dir: Path) -> None:
    _taken_over[run_dir] = (time.monotonic(), _read(run_dir))


def worked_seconds(run_dir: Path) -> float:
    if run_dir not in _taken_over:
        return _read(run_dir)
    since, before = _taken_over[run_dir]
    return before + time.monotonic() - since


def save_stopwatch(run_dir: Path) -> None:
    write_json(run_dir / WORKED_FILE, {"seconds": round(worked_seconds(run_dir), 1)}, view=True)


def _read(run_dir: Path) -> float:
    try:
        return float(from_json((run_dir / WORKED_FILE).read_text())["seconds"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return 0.0
