"""What a person tells a run: kept beside it, shown to the agent once, in the next prompt."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from pydantic import Field, ValidationError

from buildloop.decode import from_json
from buildloop.files import append_line
from buildloop.models import Frozen

HINTS_FILE = "hints.jsonl"
LONGEST_HINT = 4000


class Hint(Frozen):
    id: str
    text: str = Field(min_length=1, max_length=LONGEST_HINT)
    by: str
    at: datetime


def give(run_dir: Path, text: str, by: str, hint_id: str | None = None) -> Hint:
    """Add a hint. Given again with the same id, it is the same hint."""
    hint = Hint(id=hint_id or token_hex(4), text=text.strip()[:LONGEST_HINT], by=by, at=datetime.now(UTC))
    if not any(known.id == hint.id for known in hints(run_dir)):
        append_line(run_dir / HINTS_FILE, hint.model_dump_json())
    return hint


def hints(run_dir: Path) -> list[Hint]:
    """All of them, oldest first; a line torn by a crash is passed over. Other ends of lines may stand in a hint."""
    path = run_dir / HINTS_FILE
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n") if path.exists() else []
    found = []
    for line in lines:
        try:
            found.append(Hint.model_validate(from_json(line)))
        except (ValueError, ValidationError):
            continue
    return found


def unheard(run_dir: Path, heard: Collection[str]) -> tuple[Hint, ...]:
    return tuple(hint for hint in hints(run_dir) if hint.id not in heard)
