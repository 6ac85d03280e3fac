"""Errors in the event streams of agent CLIs; what a model or a tool printed never counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from buildloop.diagnosis.model import Signal, SignalKind
from buildloop.diagnosis.signs.agents import OVERFLOW_SENTENCE, REPEATING_SENTENCE

ERROR_TYPES = frozenset({"error", "turn.failed", "session.error", "stream_error", "thread.error"})
STATED_IN = (
    "error",
    "message",
    "result",
    "terminal_reason",
    "subtype",
    "errors",
    "detail",
    "code",
    "name",
    "data",
    "type",
    "reason",
)
MAX_DEPTH = 6


def read_event(line: str) -> Signal | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    events = event if isinstance(event, list) else [event]
    text = " ".join(stated for one in events for stated in _errors_of(one))
    if OVERFLOW_SENTENCE.search(text):
        return Signal(SignalKind.CONTEXT_OVERFLOW, line.strip(), ecosystem="agent")
    if REPEATING_SENTENCE.search(text):
        return Signal(SignalKind.AGENT_LOOP, line.strip(), ecosystem="agent")
    return None


def _errors_of(event: Any) -> Iterator[str]:  # noqa: ANN401 (any JSON value)
    if not isinstance(event, dict):
        return
    item = event.get("item")
    if isinstance(item, dict) and item.get("type") == "error":
        yield from _stated(item, 0)
    if _is_error(event):
        yield from _stated(event, 0)


def _is_error(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    if kind in ERROR_TYPES or event.get("is_error") is True:
        return kind not in ("tool_result", "user")
    if kind == "result":
        return event.get("status") == "error" or bool(event.get("error"))
    return kind is None and bool(event.get("error"))


def _stated(value: Any, depth: int) -> Iterator[str]:  # noqa: ANN401 (any JSON value)
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth < MAX_DEPTH:
        for key in STATED_IN:
            yield from _stated(value.get(key), depth + 1)
    elif isinstance(value, list) and depth < MAX_DEPTH:
        for item in value:
            yield from _stated(item, depth + 1)
