"""Where commands that work on existing runs look for them."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_state_path


def state_folder(given: Path | None) -> Path:
    return Path(given or os.environ.get("BUILDLOOP_STATE_DIR") or user_state_path("buildloop")).absolute()
