"""A workspace to install into."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "worktree"
    (folder / ".git").mkdir(parents=True)
    return folder
