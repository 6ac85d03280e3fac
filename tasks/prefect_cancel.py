"""Notices that the flow run was cancelled in Prefect's UI or API.

A worker ends the process of a cancelled flow run; a run that was started by hand has no worker, so it looks itself.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.exceptions import PrefectException
from prefect.runtime import flow_run

from buildloop.cancel import ask_to_stop
from buildloop.rundir import RunDir

# With the grace that processes get after that, everything has ended within five seconds.
LOOK_SECONDS = 1.0
# By then a run that waits for a process has stopped; one that sleeps inside of Prefect needs a signal.
PATIENCE_SECONDS = 6.0


@contextlib.contextmanager
def stopped_by_prefect(run_dir: Path) -> Iterator[None]:
    """Within, a cancellation of the current flow run is passed on as a request to stop the run."""
    ended = threading.Event()
    alone = threading.current_thread() is threading.main_thread()
    given = (UUID(flow_run.id), RunDir(run_dir), ended, alone)
    seen = contextvars.copy_context()
    watcher = threading.Thread(target=lambda: seen.run(_watch, *given), name="prefect-cancel", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()


def _watch(flow_run_id: UUID, run: RunDir, ended: threading.Event, alone: bool) -> None:
    """`alone`: the flow is what this process is for, so a signal to the process can only mean the flow."""
    blind = False
    with get_client(sync_client=True) as client:
        while not ended.wait(LOOK_SECONDS):
            try:
                cancelled = _is_cancelled(client, flow_run_id)
            except (httpx.HTTPError, PrefectException, OSError) as error:
                if not blind:
                    run.events.emit("loop.degraded", what="cancellation by Prefect", why=str(error))
                blind = True
                continue
            if cancelled:
                ask_to_stop(run.path, "Prefect")
                if not ended.wait(PATIENCE_SECONDS) and alone:
                    os.kill(os.getpid(), signal.SIGTERM)
                return


def _is_cancelled(client: SyncPrefectClient, flow_run_id: UUID) -> bool:
    state = client.read_flow_run(flow_run_id).state
    return state is not None and (state.is_cancelling() or state.is_cancelled())
