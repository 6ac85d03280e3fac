"""The flow `supervise`: one look at a source of requests. A schedule repeats it; between two looks nothing waits."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State
from prefect.states import Completed
from pydantic import BaseModel, ConfigDict, Field, model_validator

from buildloop.diagnosis.model import FailureMode
from buildloop.diagnosis.run_dir import FAILURE_MODE, classify_build_loop_failure
from buildloop.errors import InputError, RunLocked
from buildloop.events import also_told
from buildloop.fields import as_a_form
from buildloop.people.answer import was_stopped
from buildloop.result import StopReason
from buildloop.storage import default_state_dir
from buildloop.supervise.issues import IssueSource
from buildloop.supervise.ledger import Ledger
from buildloop.supervise.model import Attempt, Ending
from buildloop.supervise.plan import Policy
from buildloop.supervise.source import DirectorySource, Source
from buildloop.supervise.tick import Tick, look
from tasks import launch
from tasks.forward import forward_to_prefect
from tasks.masked_logs import mask_logs


class SuperviseRequest(BaseModel):
    """Where requests come from, and how much may be done about them."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=as_a_form)

    folder: str | None = Field(
        None, description="Folder of request files (*.toml, *.json): settings of a run, one file each."
    )
    label: str | None = Field(
        None, description="Instead of a folder: open GitHub issues with this label, of the repository below."
    )
    repo: str | None = Field(None, description="For issues: path of the checkout on the workers.")
    github_repo: str | None = Field(
        None, description="For issues: OWNER/NAME on GitHub; default: that of the checkout's remote."
    )
    defaults: dict[str, Any] = Field(
        default_factory=dict,
        description="Settings for all requests that do not set them: repo, test, agent …",
    )
    deployment: str = Field(
        "build-loop/on-demand", description="The deployment that works on a request, on any worker."
    )
    budget_usd: float | None = Field(
        None, gt=0, description="Most dollars one request may cost, all its runs together."
    )
    starts: int = Field(20, ge=1, description="Most runs started within the window.")
    window_minutes: float = Field(60, gt=0, description="Length of the window in minutes.")
    retry_delay: float = Field(
        30, ge=0, description="Seconds before the first retry; doubles each time, an hour at most."
    )
    outage_delay: float = Field(
        300, ge=0, description="The same after an outage (rate limit, network, a lost worker)."
    )

    @property
    def policy(self) -> Policy:
        return Policy(
            budget_usd=self.budget_usd,
            starts=self.starts,
            window=timedelta(minutes=self.window_minutes),
            first_delay=timedelta(seconds=self.retry_delay),
            first_delay_transient=timedelta(seconds=self.outage_delay),
        )

    @property
    def ledger(self) -> Ledger:
        place = self.folder or f"{self.github_repo or self.repo}/{self.label}"
        name = re.sub(r"[^a-z0-9._-]+", "-", str(Path(place).absolute()).lower()).strip("-")
        return Ledger(Path(default_state_dir()) / "supervise" / name[-100:])

    @property
    def source(self) -> Source:
        if self.folder is not None:
            if not Path(self.folder).is_dir():
                raise InputError(f"there is no folder {self.folder} on this worker; make it, or name another")
            return DirectorySource(Path(self.folder), self.defaults)
        assert self.label is not None
        assert self.repo is not None
        return IssueSource.of(Path(self.repo), self.label, self.github_repo, self.defaults)

    @model_validator(mode="after")
    def _one_source(self) -> SuperviseRequest:
        issues = self.label is not None and self.repo is not None
        if (self.folder is None) is not issues:
            raise ValueError("give either a folder, or a label and the repo whose issues to watch")
        return self


@dataclass(frozen=True, slots=True)
class FlowRuns:
    """Attempts as flow runs of a deployment."""

    deployment: str

    def start(self, attempt: Attempt) -> str:
        made = launch.start(
            self.deployment, attempt.request, attempt.key, at=attempt.start_at, tags=("supervised",)
        )
        return str(made)

    def ended(self, attempt: Attempt) -> Ending | None:
        found = launch.look(UUID(attempt.handle), attempt.request)
        return None if found is None else ending_of(found, attempt)


def ending_of(found: launch.Ended, attempt: Attempt) -> Ending:
    """Only a result of this very attempt counts: an interrupted run may still have that of the one before."""
    result = found.result if found.state_type in ("COMPLETED", "FAILED", "CANCELLED") else None
    ours = result is not None and found.state_name not in ("InvalidRequest", "RunLocked")
    if result is None or not ours:
        return Ending(state=found.state_name, reason=found.reason, explanation=found.message)
    red = not result.reason.is_success
    return Ending(
        state=found.state_name,
        # Whoever stopped it does not want it tried again.
        reason=StopReason.CANCELLED if red and was_stopped(attempt.request.run_dir) else result.reason,
        mode=_mode(attempt.request.run_dir) if red else None,
        explanation=result.explanation,
        iterations=result.iterations,
        cost_usd=result.usage.cost_usd,
        branch=result.branch,
        run_dir=result.run_dir,
    )


def _mode(run_dir: Path) -> FailureMode:
    """The loop's own last diagnosis; where it left none, one from what it left otherwise."""
    try:
        return FailureMode(json.loads((run_dir / FAILURE_MODE).read_text(encoding="utf-8"))["mode"])
    except (OSError, ValueError, KeyError):
        return FailureMode(classify_build_loop_failure(run_dir))


@flow(name="supervise", validate_parameters=True)
def supervise(request: SuperviseRequest) -> State[Tick]:
    """Look at the source once: take in new requests, see what has ended, start what is due.

    Args:
        request: Where requests come from, and how much may be done about them.
    """
    mask_logs()
    ledger = request.ledger
    try:
        with also_told(ledger.folder.name, forward_to_prefect()):
            seen = look(
                request.source, ledger, FlowRuns(request.deployment), request.policy, datetime.now(UTC)
            )
    except RunLocked as error:
        return Completed(name="AlreadyWatching", message=str(error), data=Tick())
    said = f"{seen.new} new, {seen.started} started, {seen.done} done, {seen.given_up} given up, {seen.waiting} open"
    get_run_logger().info(said)
    return Completed(message=said, data=seen)
