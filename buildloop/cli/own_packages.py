"""`flows` and `tasks` are names that projects use too; ours are the ones beside this package."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

OURS = Path(__file__).parents[2]
NAMES = ("flows", "tasks")


def prefer_own_packages() -> None:
    """Call before importing them: a module of the same name on the user's PYTHONPATH would be taken for ours."""
    if all(_is_ours(name) for name in NAMES):
        return
    sys.path.insert(0, str(OURS))
    importlib.invalidate_caches()


def _is_ours(name: str) -> bool:
    found = importlib.util.find_spec(name)
    places = found.submodule_search_locations if found else None
    return any(Path(place).resolve() == OURS / name for place in places or ())
