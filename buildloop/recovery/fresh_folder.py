"""Folders that installs may fill: each is new, and one that was not finished is removed by the next install."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

UNFINISHED = ".unfinished"


class Fresh:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.finished = False

    def finish(self) -> None:
        self.path.with_name(self.path.name + UNFINISHED).unlink()
        self.finished = True


@contextlib.contextmanager
def fresh_folder(parent: Path) -> Iterator[Fresh]:
    """A folder that nobody uses yet. Never renamed: environments hold their own path. Kept only if finished."""
    parent.mkdir(parents=True, exist_ok=True)
    _remove_unfinished(parent)
    taken = [int(path.name) for path in parent.iterdir() if path.name.isdecimal()]
    fresh = Fresh(parent / str(max(taken, default=0) + 1))
    fresh.path.with_name(fresh.path.name + UNFINISHED).touch()
    fresh.path.mkdir()
    try:
        yield fresh
    finally:
        if not fresh.finished:
            _remove_unfinished(parent)


def _remove_unfinished(parent: Path) -> None:
    for mark in parent.glob(f"*{UNFINISHED}"):
        folder = mark.with_name(mark.name.removesuffix(UNFINISHED))
        if folder.exists():
            shutil.rmtree(folder)
        mark.unlink()
