"""Paths as people write them, with `~` for a home."""

from __future__ import annotations

import os
from pathlib import Path


def from_home(path: str) -> Path:
    """As a shell reads it: `~` of a user nobody knows stays as it is, and names a folder that is not there. Pathlib
    would end with a traceback."""
    return Path(os.path.expanduser(path))  # noqa: PTH111
