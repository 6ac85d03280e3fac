"""Where a benchmark works: a folder of its own, an environment without anything of the user's, the time it may take."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOREIGN = ("PREFECT_", "BUILDLOOP_", "_BUILDLOOP", "GIT_", "XDG_")


@dataclass(frozen=True, slots=True)
class Place:
    """`api` is the Prefect server that is running already; `quick` asks for a tenth of the time."""

    folder: Path
    quick: bool
    api: str = ""

    def choose(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def sub(self, name: str) -> Path:
        """A new folder; names are used once."""
        path = self.folder / name
        path.mkdir(parents=True)
        return path


def environment(home: Path, api: str | None = None) -> dict[str, str]:
    """For every command that is measured, ours and the baseline alike."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    kept |= {
        "HOME": str(home),
        "PREFECT_HOME": str(home / ".prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "120",
    }
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept | ({"PREFECT_API_URL": api} if api else {})


def buildloop(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "buildloop.cli.main", *arguments]
