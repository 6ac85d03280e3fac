"""Runs started as flow runs of a deployment: on whichever worker is free."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelling, Scheduled

from buildloop.cancel import ask_to_stop
from buildloop.errors import InputError
from buildloop.request import BuildRequest
from buildloop.result import GOOD_ENDS, BuildResult, StopReason
from buildloop.rundir import RunDir
from buildloop.storage import bucket, default_state_dir
from tasks.bucket import fetch_files

POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Ended:
    """What Prefect says of a flow run that is over, and the result it left, if it came that far."""

    state_type: str
    state_name: str
    message: str
    result: BuildResult | None

    @property
    def reason(self) -> StopReason | None:
        """Why it stopped. A worker that shares no files with us leaves only the name of its state."""
        return self.result.reason if self.result else GOOD_ENDS.get(self.state_name)


def start(
    deployment: str,
    request: BuildRequest,
    key: str,
    *,
    at: datetime | None = None,
    tags: tuple[str, ...] = (),
) -> UUID:
    """The flow run for this key. Asked again with the same key, Prefect gives the one it has: nothing is doubled."""
    with get_client(sync_client=True) as client:
        made = client.create_flow_run_from_deployment(
            _deployment_id(client, deployment),
            parameters={"request": _portable(request)},
            state=Scheduled(scheduled_time=at),
            idempotency_key=key,
            tags=list(tags),
            name=request.run_id,
        )
    return made.id


def look(flow_run: UUID, request: BuildRequest) -> Ended | None:
    """How it ended; None while it has not."""
    with get_client(sync_client=True) as client:
        return ended(client.read_flow_run(flow_run), request)


def ended(run: FlowRun, request: BuildRequest) -> Ended | None:
    if run.state is None or not run.state.is_final():
        return None
    fetch_files(request)
    left = RunDir(request.run_dir).result()
    return Ended(run.state.type.value, run.state.name or "", run.state.message or "", left)


def wait(
    flow_run: UUID, request: BuildRequest, unwanted_by: Callable[[], str | None] = lambda: None
) -> Ended:
    """An API that does not answer for a while is asked again: the run goes on without us. As soon as somebody does not
    want the run any more (`unwanted_by` says who), it is stopped, and how it ended is waited for."""
    while True:
        try:
            if (found := look(flow_run, request)) is not None:
                return found
            if (who := unwanted_by()) is not None:
                stop(flow_run, request, who)
        except httpx.HTTPError:
            pass
        time.sleep(POLL_SECONDS)


def stop(flow_run: UUID, request: BuildRequest, who: str) -> None:
    """Ask it in its own way where it can hear that, so that it says how far it came; one that does not work yet, or
    works on files we do not share, is cancelled. May be said again: one that is just starting does not listen yet."""
    with get_client(sync_client=True) as client:
        state = client.read_flow_run(flow_run).state
        if state is not None and state.is_running() and bucket(os.environ) is None:
            ask_to_stop(request.run_dir, who)
        elif state is None or not (state.is_final() or state.is_cancelling()):
            client.set_flow_run_state(flow_run, Cancelling(message=f"Cancelled by {who}."))


def _portable(request: BuildRequest) -> dict[str, Any]:
    """Where this machine keeps runs by default is for every other machine to say for itself."""
    usual = {"state_dir"} if request.state_dir == default_state_dir() else set()
    return request.model_dump(mode="json", exclude=usual)


def _deployment_id(client: SyncPrefectClient, name: str) -> UUID:
    try:
        return client.read_deployment_by_name(name).id
    except (ObjectNotFound, ValueError):
        raise InputError(f"there is no deployment {name!r} on this Prefect server; deploy it first") from None
