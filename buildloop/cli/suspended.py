"""Resumes a suspended flow run with a person's answer, through the Prefect server it waits on."""

from __future__ import annotations

import os
import time
from uuid import UUID

from buildloop.cli.prefect_api import QUIET, answers, configured_url
from buildloop.people.answer import Answer
from buildloop.people.asked import Asked
from buildloop.text import one_line

# The question is written down a moment before the flow run is suspended.
SUSPENDING_SECONDS = 10.0
POLL_SECONDS = 0.2


def resume_suspended(asked: Asked, answer: Answer) -> str | None:
    """None when the flow run goes on with the answer, else why it does not, as half a sentence."""
    url = configured_url(os.environ) or asked.api
    if url is None:
        return "no Prefect server is known here (set PREFECT_API_URL)"
    if not answers(url):
        return f"the Prefect server at {url} does not answer"
    os.environ.update({name: os.environ.get(name, value) for name, value in QUIET.items()})
    os.environ["PREFECT_API_URL"] = url
    try:
        return _resume(UUID(asked.flow_run), answer, time.monotonic() + SUSPENDING_SECONDS)
    except Exception as error:  # whatever the server or its client objects to, the answer must not be lost
        return f"the Prefect server at {url} refused ({type(error).__name__}: {one_line(str(error), 200)})"


def _resume(flow_run: UUID, answer: Answer, deadline: float) -> str | None:
    from prefect.client.orchestration import get_client
    from prefect.flow_runs import resume_flow_run

    with get_client(sync_client=True) as client:
        while True:
            state = client.read_flow_run(flow_run).state
            if state is not None and state.is_paused():
                break
            name = state.name if state else "unknown"
            if state is None or state.is_final() or time.monotonic() > deadline:
                return f"its flow run is {name}, not Suspended"
            time.sleep(POLL_SECONDS)
    resume_flow_run(flow_run, run_input=answer.model_dump(mode="json"))
    return None
