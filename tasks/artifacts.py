"""What the Prefect UI shows of a run: a live report, a table of iterations, the fill of the context.

Each is one artifact of the flow run, created once and updated in place.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate
from prefect.runtime import flow_run

from buildloop.redact import redactor
from buildloop.report.facts import RunFacts
from buildloop.report.markdown import iteration_rows, run_report
from buildloop.rundir import RunDir

# Artifacts this process has made, so that they are updated and not made again.
_made: dict[tuple[str, str], UUID] = {}


@dataclass(frozen=True, slots=True)
class View:
    """`what` ends the artifact's key; `type` is Prefect's word for how it is drawn."""

    what: str
    type: str
    description: str
    data: str | float


def publish(run: RunDir, facts: Callable[[], RunFacts]) -> None:
    """Artifacts are views: when the API does not take them, the run goes on and says so."""
    try:
        with get_client(sync_client=True) as client:
            for view in _views(run.run_id, facts()):
                _show(client, run.run_id, view)
    except Exception as error:  # also what a report makes of a file that is being written just now
        run.events.emit("loop.degraded", what="artifacts", why=f"{type(error).__name__}: {error}"[:300])


def artifact_page(run_id: str, what: str) -> str:
    """Where the UI shows this artifact of the present flow run; without one, the page of the flow run itself."""
    page, made = flow_run.ui_url or "", _made.get((str(flow_run.id), artifact_key(run_id, what)))
    root = page.rpartition("/flow-run/")[0].rpartition("/")[0]
    return f"{root}/artifacts/artifact/{made}" if root and made else page


def artifact_key(run_id: str, what: str) -> str:
    return f"buildloop-{re.sub(r'[^a-z0-9]+', '-', run_id)}-{what}"


def _views(run_id: str, facts: RunFacts) -> tuple[View, ...]:
    mask = redactor(os.environ)
    last = facts.iterations[-1]
    fill = f"Context fill of {run_id} after iteration {last.number}"
    return (
        View("report", "markdown", f"Report of run {run_id}", run_report(facts)),
        View(
            "iterations",
            "table",
            f"Iterations of run {run_id}",
            mask(json.dumps(iteration_rows(facts.iterations))),
        ),
        View("context", "progress", fill, min(100.0, float(last.context_pct))),
    )


def _show(client: SyncPrefectClient, run_id: str, view: View) -> None:
    key = artifact_key(run_id, view.what)
    known = _made.get((str(flow_run.id), key))
    if known is not None:
        client.update_artifact(known, ArtifactUpdate(data=view.data, description=view.description))
        return
    made = client.create_artifact(
        ArtifactCreate(
            key=key,
            type=view.type,
            description=view.description,
            data=view.data,
            flow_run_id=UUID(str(flow_run.id)) if flow_run.id else None,
        )
    )
    _made[str(flow_run.id), key] = made.id
