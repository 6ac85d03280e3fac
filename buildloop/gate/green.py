"""The last green log of each gate command of a repository: what it says when all is well is no reason for red."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

LARGEST_KEPT = 8 * 2**20


def green_log_of(folder: Path, repo_id: str, command: str) -> Path:
    name = hashlib.sha256(f"{repo_id}\0{command}".encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return folder / f"{name}.log"


def keep_green_log(log: Path, place: Path) -> None:
    """Replace the kept log by `log`; a very long one is not worth its disk."""
    if log.stat().st_size > LARGEST_KEPT:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_name(f".{place.name}.{os.getpid()}")
    shutil.copyfile(log, draft)
    draft.replace(place)
