"""Where commands that work on existing runs look for them."""

from __future__ import annotations

from pathlib import Path

from buildloop.storage import default_state_dir


def state_folder(given: Path | None) -> Path:
    return Path(given or default_state_dir()).absolute()
