"""Hands a run's events to Prefect: with a resource per run, so that automations and the event feed can use them."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import Any

from prefect.events import emit_event
from prefect.runtime import flow_run

from buildloop.events import ENVELOPE, Listener
from buildloop.redact import redactor
from buildloop.text import one_line
from tasks.artifacts import artifact_page

LONGEST_TEXT = 2000


def resource_id(run_id: str) -> str:
    return f"buildloop.run.{run_id}"


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
