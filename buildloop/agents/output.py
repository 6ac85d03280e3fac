"""Reads what an agent CLI left: JSON lines one at a time, however much it printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

LONGEST_LINE = 8 * 2**20
TAIL_BYTES = 256 * 1024
LARGEST = 10**15

Event = dict[str, Any]


def json_lines(path: Path) -> Iterator[Event]:
    """The objects among the lines. Noise, torn lines and lines beyond any sense are passed over."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        while line := stream.readline(LONGEST_LINE):
            if not line.endswith(b"\n") and len(line) == LONGEST_LINE:
                _skip_rest(stream)
            elif (event := _object(line)) is not None:
                yield event


def json_document(path: Path) -> Event | None:
    """The file as one JSON object (some CLIs print nothing else), or the last one in it that starts a line."""
    text = tail(path)
    starts = [0, *(i + 1 for i, char in enumerate(text) if char == "\n")]
    for start in reversed(starts):
        if text.startswith("{", start) and (event := _decoded(text[start:])) is not None:
            return event
    return None


def tail(path: Path, size: int = TAIL_BYTES) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - size))
        return stream.read().decode("utf-8", "replace")


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def at(event: Any, *names: str | int) -> Any:  # noqa: ANN401 (whatever JSON holds there)
    """The value at that path, None where the path leads nowhere. CLIs change; reading them must not fail."""
    for name in names:
        inside = isinstance(event, list) and isinstance(name, int) and -len(event) <= name < len(event)
        if not inside and not (isinstance(event, dict) and name in event):
            return None
        event = event[name]
    return event


def text_at(event: object, *names: str | int) -> str:
    value = at(event, *names)
    return value if isinstance(value, str) else ""


def count_at(event: object, *names: str | int) -> int:
    return int(number_at(event, *names))


def number_at(event: object, *names: str | int) -> float:
    """0 for anything but a number that can be one of tokens, turns or dollars."""
    value = at(event, *names)
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return value if numeric and -LARGEST < value < LARGEST else 0


def list_at(event: object, *names: str | int) -> list[Any]:
    value = at(event, *names)
    return value if isinstance(value, list) else []


def dict_at(event: object, *names: str | int) -> dict[str, Any]:
    value = at(event, *names)
    return value if isinstance(value, dict) else {}


def _skip_rest(stream: BinaryIO) -> None:
    while (part := stream.readline(LONGEST_LINE)) and not part.endswith(b"\n"):
        pass


def _object(line: bytes) -> Event | None:
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _decoded(text: str) -> Event | None:
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
