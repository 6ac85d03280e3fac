"""The run's event log: one JSON object a line, a fixed envelope, and a schema that every event must meet."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from buildloop.decode import from_json
from buildloop.files import append_line

ENVELOPE = frozenset({"ts", "ts_epoch", "type", "run_id"})

# The fields each event carries at least. A type that is not here cannot be emitted.
EVENT_FIELDS: dict[str, frozenset[str]] = {
    name: frozenset(fields.split())
    for name, fields in {
        "loop.started": "goal agent tests max_iterations max_restarts",
        "loop.resumed": "iteration",
        "loop.flow_run": "id url",
        "loop.baseline": "verdict failing",
        "loop.iteration_start": "iteration max session agent test_passed",
        "loop.iteration_complete": "iteration max session agent test_passed commits status",
        "loop.context_efficiency": "iteration raw_prompt_chars trimmed_prompt_chars trim_ratio "
        "budget_utilization budget_chars",
        "loop.context_trimmed": "iteration original trimmed budget sections",
        "loop.context_usage": "iteration input_tokens output_tokens usage_pct threshold",
        "loop.context_exhaustion_warning": "iteration usage_pct threshold input_tokens output_tokens window",
        "loop.context_exhaustion_restart": "restart prev_iteration iteration",
        "loop.restart": "restart max iteration reason",
        "loop.stuckness_detected": "signals count iteration reasons",
        "loop.failure_classified": "mode iteration confidence",
        "loop.failure_mode_forced": "mode iteration",
        "loop.recovery_applied": "mode restart action outcome",
        "loop.agent_waiting": "iteration attempt seconds error",
        "loop.agent_changed": "iteration agent before why",
        "loop.extended": "iteration max extension",
        "loop.recovery_outcome": "iteration mode action effect",
        "loop.completion_rejected": "iteration reason",
        "loop.waiting_for_person": "key reason token question url flow_run api",
        "loop.answered": "key choice",
        "loop.degraded": "what why",
        "loop.tampering": "iteration rule file text blocks",
        "loop.counter_proof": "iteration verdict files failing why seconds",
        "loop.falsified": "iteration agent refuted files failing why",
        "loop.secret_refused": "iteration file kind line",
        "loop.protected_restored": "iteration files",
        "loop.files_unkept": "iteration files",
        "loop.completed": "reason iterations commits",
        "error.actionability_scored": "score error_count enhanced iteration",
        "error.context_generated": "stage iteration category",
        "suggestion.recorded": "id category stage",
        "suggestion.resolved": "id category stage",
        "daemon.failure_classified": "issue broad_class",
        "github.issue_read": "issue repo",
        "github.commented": "issue url",
        "github.pull_request": "number url",
        "daemon.granular_failure": "issue broad_class granular_mode action",
        "daemon.retry": "issue retry max broad_class",
        "daemon.retry_exhausted": "issue retries why",
    }.items()
}


Listener = Callable[[dict[str, Any]], None]

# Who else hears the events of a run while it is worked on in this process; the log is the truth.
_listeners: dict[str, Listener] = {}


@contextlib.contextmanager
def also_told(run_id: str, listener: Listener) -> Iterator[None]:
    """Hand every event of this run to `listener` too. It must not raise: the event is written already."""
    _listeners[run_id] = listener
    try:
        yield
    finally:
        _listeners.pop(run_id, None)


class EventLog:
    """Appends events of one run. Values are data: nothing in them can reach the envelope."""

    def __init__(self, path: Path, run_id: str) -> None:
        self.path = path
        self.run_id = run_id

    def emit(self, event_type: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
        event = make_event(event_type, self.run_id, datetime.now(UTC), fields)
        append_line(self.path, json.dumps(event, ensure_ascii=True, default=str), view=True)
        if listener := _listeners.get(self.run_id):
            listener(event)
        return event


def make_event(event_type: str, run_id: str, now: datetime, fields: dict[str, Any]) -> dict[str, Any]:
    if event_type not in EVENT_FIELDS:
        raise ValueError(f"unknown event type {event_type!r}")
    if missing := EVENT_FIELDS[event_type] - fields.keys():
        raise ValueError(f"event {event_type} lacks {', '.join(sorted(missing))}")
    if reserved := ENVELOPE & fields.keys():
        raise ValueError(f"event field {', '.join(sorted(reserved))} is reserved for the envelope")
    stamp = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"ts": stamp, "ts_epoch": int(now.timestamp()), "type": event_type, "run_id": run_id, **fields}


def read_events(path: Path, *, last_bytes: int | None = None, only: str = "") -> Iterator[dict[str, Any]]:
    """The log's events in order, or those in its last bytes, or of one type; a line torn by a crash is passed over."""
    wanted = only.encode()
    if not path.exists():
        return
    with path.open("rb") as stream:
        if last_bytes is not None:
            stream.seek(max(0, path.stat().st_size - last_bytes))
        for line in stream:
            if wanted in line and (event := read_event(line)) is not None and only in ("", event["type"]):
                yield event


def read_event(line: bytes) -> dict[str, Any] | None:
    """None for a line that a crash has torn, or that is no event."""
    try:
        event = from_json(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("type"), str) else None
