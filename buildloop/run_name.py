"""What a run may be called."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator

RUN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def _safe(name: str) -> str:
    if not RUN_NAME.fullmatch(name):
        raise ValueError("use lower-case letters, digits, '.', '_' and '-', 64 at most")
    return name


RunName = Annotated[str, AfterValidator(_safe)]


def new_run_id(now: datetime | None = None) -> str:
    """Sorts by time, is short enough to type, and two runs of one second still differ."""
    return f"{(now or datetime.now(UTC)):%m%d-%H%M%S}-{secrets.token_hex(3)}"
