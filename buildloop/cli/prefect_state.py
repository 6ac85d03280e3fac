"""Says in Prefect how a flow run ended that was interrupted from outside."""

from __future__ import annotations

from buildloop.events import read_events
from buildloop.rundir import RunDir


def mark_cancelled(run: RunDir, explanation: str) -> None:
    """Prefect calls an interrupted flow run crashed; this one was ended on purpose. The run itself needs no server."""
    begun = [event["id"] for event in read_events(run.events.path) if event["type"] == "loop.flow_run"]
    if not begun:
        return
    try:
        from prefect.client.orchestration import get_client
        from prefect.states import Cancelled

        with get_client(sync_client=True) as client:
            client.set_flow_run_state(begun[-1], Cancelled(message=explanation), force=True)
    except Exception as error:  # the interrupt may have left Prefect itself in any state
        run.events.emit("loop.degraded", what="the flow run's state in Prefect", why=str(error))
