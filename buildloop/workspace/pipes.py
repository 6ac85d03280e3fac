"""Takes away pipes that stand where git reads a file of the work tree: it would wait at them for ever."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

READ_BY_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
# Large, and git does not go there.
PASSED_OVER = frozenset({".git", ".venv", "node_modules", "__pycache__"})


def drop_pipes(root: Path) -> None:
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name not in PASSED_OVER]
        for name in READ_BY_GIT.intersection(names):
            path = Path(folder, name)
            if path.is_fifo():
                path.unlink()


@cache
def drop_pipes_once(root: Path) -> None:
    """For what was there before this process: a killed one may have left it."""
    drop_pipes(root)
