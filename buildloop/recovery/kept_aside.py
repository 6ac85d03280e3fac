"""Keeps what an install replaces until the install has succeeded, whatever happens in between.

A note says what was where before anything is moved. As long as the note is there, the install has not succeeded,
and `put_back` restores what it says; taking the note away is the one step that makes the new state count.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from buildloop.files import write_json

NOTE = "note.json"


def move_aside(store: Path, paths: Sequence[Path]) -> None:
    """Take `paths` out of the way, into `store` on the same file system. What is not there is noted too."""
    put_back(store)
    write_json(store / NOTE, [{"path": str(path), "there": _is_there(path)} for path in paths])
    for number, path in enumerate(paths):
        if _is_there(path):
            path.rename(store / str(number))


def let_go(store: Path) -> None:
    """The new state counts from here on."""
    (store / NOTE).unlink()
    _remove(store)


def put_back(store: Path) -> None:
    """Undo everything since `move_aside`; also for a process that was killed anywhere in between."""
    if not (store / NOTE).exists():
        _remove(store)
        return
    for number, told in enumerate(json.loads((store / NOTE).read_bytes())):
        path, kept = Path(told["path"]), store / str(number)
        if _is_there(kept):
            _remove(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            kept.rename(path)
        elif not told["there"]:
            _remove(path)
    let_go(store)


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
