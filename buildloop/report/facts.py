"""What is known about a run, as every report takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from buildloop.events import read_events
from buildloop.github.record import load_record
from buildloop.ledger import Call
from buildloop.models import Iteration, WorkspaceInfo
from buildloop.report.advice import Advice, load_advice
from buildloop.request import BuildRequest
from buildloop.result import BuildResult
from buildloop.rundir import RunDir


@dataclass(frozen=True, slots=True)
class RunFacts:
    """`degraded` are the things beside the loop that did not work; `result` is None until the run has ended.
    `calls` are all agent calls, also those that failed. `advice` is what memory says about the failure at
    the end."""

    request: BuildRequest
    workspace: WorkspaceInfo | None
    iterations: Sequence[Iteration]
    result: BuildResult | None
    started: datetime | None = None
    running: bool = False
    calls: tuple[Call, ...] = ()
    degraded: tuple[str, ...] = ()
    pull_request: str = ""
    advice: Advice = field(default_factory=Advice)

    @property
    def branch(self) -> str:
        return self.workspace.branch if self.workspace else ""


def facts_of(run: RunDir) -> RunFacts:
    """Everything that is stored about a run."""
    running = run.is_running()
    return RunFacts(
        request=run.request(),
        workspace=run.workspace(),
        iterations=run.iterations(),
        result=None if running else run.result(),
        started=run.started,
        running=running,
        calls=tuple(run.ledger.calls()),
        degraded=degraded_in(run),
        pull_request=load_record(run.path).pull_url,
        advice=load_advice(run.path),
    )


def degraded_in(run: RunDir) -> tuple[str, ...]:
    """What did not work beside the loop, each thing once."""
    seen = read_events(run.events.path, only="loop.degraded")
    told = dict.fromkeys(f"{event.get('what')}: {event.get('why')}" for event in seen)
    return (*told, *(f"{name}: it is damaged and left out here" for name in run.damaged_iterations()))
