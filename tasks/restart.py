"""Ends a session and writes the summary the next one starts from."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from prefect import task

from buildloop.context.summary import SummaryFacts, summarize_loop_state
from buildloop.files import write_atomic
from buildloop.models import ContextSummary
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from tasks.masked_errors import masked_errors
from tasks.options import DURABLE, tell

ARCHIVED = ("progress.md", "error-summary.json", "failure-mode.json", "context-summary.md", "loop-state.md")


@dataclass(frozen=True, slots=True)
class RestartInput:
    """`session` is the one that ends; `usage` is (percent, input tokens, output tokens) of its context."""

    request: BuildRequest
    session: int
    number: int
    max_restarts: int
    reason: str
    facts: SummaryFacts

    @property
    def label(self) -> str:
        return f"restart s{self.session} → s{self.session + 1}"


@task(name="restart", task_run_name="{given.label}", **DURABLE)
@masked_errors
def restart(key: str, given: RestartInput) -> ContextSummary:
    run = RunDir(given.request.run_dir)
    summary = ContextSummary(
        session=given.session,
        iteration=given.number,
        reason=given.reason,
        text=summarize_loop_state(given.facts),
    )
    write_atomic(run.path / "context-summary.md", summary.text + "\n")
    _archive(run.path, run.path / f"restart-{given.session}")
    run.events.emit(
        "loop.restart",
        restart=given.session,
        max=given.max_restarts,
        iteration=given.number,
        reason=given.reason,
    )
    run.events.emit(
        "loop.context_exhaustion_restart", restart=given.session, prev_iteration=given.number, iteration=0
    )
    tell(given.label, "restart")
    return summary


def _archive(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for name in ARCHIVED:
        if (source / name).exists():
            shutil.copy2(source / name, target / name)
