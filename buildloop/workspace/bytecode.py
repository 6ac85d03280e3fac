"""Drops compiled Python of changed sources.

Python trusts a `.pyc` whose source has the same size and the same modification *second*. An agent that edits
twice in a second, or a reset to another commit, would otherwise have the gate run the old code.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def drop_bytecode(root: Path, files: Iterable[str]) -> None:
    for name in files:
        source = root / name
        if source.suffix == ".py":
            for compiled in (source.parent / "__pycache__").glob(f"{source.stem}.*.pyc"):
                compiled.unlink(missing_ok=True)
