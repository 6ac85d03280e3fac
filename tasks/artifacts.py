"""What the Prefect UI shows of a run: a live report, a table of iterations, the fill of the context."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import httpx
from prefect.artifacts import create_markdown_artifact, create_progress_artifact, create_table_artifact
from prefect.exceptions import PrefectException

from buildloop.models import BuildResult, Iteration
from buildloop.redact import redactor
from buildloop.report.markdown import iteration_rows, run_report
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir


def artifact_key(run_id: str, what: str) -> str:
    return f"buildloop-{re.sub(r'[^a-z0-9]+', '-', run_id)}-{what}"


def publish(
    run: RunDir,
    request: BuildRequest,
    iterations: Sequence[Iteration],
    branch: str,
    result: BuildResult | None,
) -> None:
    """Artifacts are views: when the API does not take them, the run goes on and says so."""
    mask = redactor(os.environ)
    try:
        create_markdown_artifact(
            key=artifact_key(run.run_id, "report"),
            markdown=mask(run_report(request, iterations, branch, result)),
            description=f"Run report of {run.run_id}",
        )
        create_table_artifact(
            key=artifact_key(run.run_id, "iterations"),
            table=iteration_rows(iterations),
            description=f"Iterations of {run.run_id}",
        )
        create_progress_artifact(
            key=artifact_key(run.run_id, "context"),
            progress=min(100.0, float(iterations[-1].context_pct)),
            description=f"Context fill of {run.run_id} after iteration {iterations[-1].number}",
        )
    except (PrefectException, httpx.HTTPError) as error:
        run.events.emit("loop.degraded", what="artifacts", why=str(error)[:300])
