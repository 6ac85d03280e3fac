"""Hands a run's events to Prefect: with a resource per run, so that automations and the event feed can use them."""

from __future__ import annotations

import contextlib
import contextvars
import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from queue import SimpleQueue
from typing import Any

from prefect.events import emit_event
from prefect.logging import get_logger
from prefect.runtime import flow_run

from buildloop.events import ENVELOPE, Listener, also_told
from buildloop.redact import redactor
from buildloop.text import one_line
from tasks.artifacts import artifact_page

LONGEST_TEXT = 2000
GATHER_SECONDS = 0.1
LONGEST_WAIT = 10.0

Waiting = SimpleQueue[dict[str, Any] | None]


def resource_id(run_id: str) -> str:
    return f"buildloop.run.{run_id}"


@contextlib.contextmanager
def told_to_prefect(run_id: str) -> Iterator[None]:
    """Within, the run's events go to Prefect too: in their order, a moment later, from a thread of their own."""
    waiting: Waiting = SimpleQueue()
    forward, seen = forward_to_prefect(), contextvars.copy_context()
    thread = threading.Thread(
        target=lambda: seen.run(_forward_all, waiting, forward), name="events", daemon=True
    )
    thread.start()
    try:
        with also_told(run_id, waiting.put):
            yield
    finally:
        waiting.put(None)
        thread.join(LONGEST_WAIT)


def _forward_all(waiting: Waiting, forward: Listener) -> None:
    """Best effort: `events.jsonl` has them all. Ends at None."""
    while (event := waiting.get()) is not None:
        if waiting.empty():
            time.sleep(GATHER_SECONDS)  # whoever tells something has more to do just then
        try:
            forward(event)
        except Exception:
            get_logger("buildloop").exception("Prefect could not be told of %s", event["type"])


def forward_to_prefect() -> Listener:
    """Best effort next to `events.jsonl`: Prefect delivers in the background, or logs that it could not."""
    mask = redactor(os.environ)
    related = [
        {"prefect.resource.id": f"prefect.flow-run.{flow_run.id}", "prefect.resource.role": "flow-run"}
    ]

    def forward(event: dict[str, Any]) -> None:
        fields = {name: value for name, value in event.items() if name not in ENVELOPE}
        emit_event(
            event=event["type"],
            resource={
                "prefect.resource.id": resource_id(event["run_id"]),
                "prefect.resource.name": mask(_headline(event)),
            },
            related=related,
            payload=_publishable(fields, mask),
            occurred=datetime.fromisoformat(event["ts"]),
        )

    return forward


def _headline(event: dict[str, Any]) -> str:
    """What `prefect deployment run --watch` prints of an event: the run, and at its end what came of it."""
    run_id = str(event["run_id"])
    if event["type"] != "loop.completed":
        return run_id
    link = artifact_page(run_id, "report")
    count = event["iterations"]
    spent = f"{count} iteration{'' if count == 1 else 's'}"
    told = f"{run_id}: {event['reason']} after {spent}. {event.get('explanation', '')}"
    return " ".join([one_line(told, 400), *(["Report:", link] if link else [])])


def _publishable(value: Any, mask: Callable[[str], str]) -> Any:  # noqa: ANN401 (anything JSON can hold)
    if isinstance(value, dict):
        return {key: _publishable(item, mask) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_publishable(item, mask) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    text = mask(str(value))
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"
