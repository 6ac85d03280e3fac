"""Explains a red gate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prefect import task

from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.model import Attempt, Diagnosis, LogReading
from buildloop.files import write_json
from buildloop.models import Frozen, Iteration, WorkspaceInfo
from buildloop.report.views import error_summary, failure_mode
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from tasks.options import DURABLE, tell


class Classified(Frozen):
    diagnosis: Diagnosis
    error_lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClassifyInput:
    """`history` ends with the red gate to explain."""

    request: BuildRequest
    workspace: WorkspaceInfo
    iteration: Iteration
    history: tuple[Attempt, ...]
    baseline: LogReading | None

    @property
    def label(self) -> str:
        return f"classify s{self.iteration.session} i{self.iteration.number}"


@task(name="classify", task_run_name="{given.label}", **DURABLE)
def classify(key: str, given: ClassifyInput) -> Classified:
    """Writes `error-summary.json` and `failure-mode.json` as it goes."""
    run, now = RunDir(given.request.run_dir), datetime.now(UTC)
    found = _diagnosis(given, run)
    summary = error_summary(given.iteration, given.request.test, now)
    write_json(run.path / "error-summary.json", summary)
    write_json(run.path / "failure-mode.json", failure_mode(found, now))
    run.events.emit(
        "loop.failure_classified",
        mode=found.mode,
        iteration=given.iteration.number,
        confidence=found.confidence,
        evidence=list(found.evidence[:3]),
    )
    tell(f"{given.label}: {found.mode}", "diagnosis", found.mode)
    return Classified(diagnosis=found, error_lines=tuple(summary["error_lines"]))


def _diagnosis(given: ClassifyInput, run: RunDir) -> Diagnosis:
    forced = given.request.failure_mode
    if forced is not None:
        run.events.emit("loop.failure_mode_forced", mode=forced, iteration=given.iteration.number)
        return Diagnosis(forced, 1.0, ("forced by --failure-mode",), forced=True)
    return diagnose(
        given.history,
        context_window=given.request.context_window or None,
        context_threshold=given.request.context_threshold,
        repo=Path(given.workspace.workdir),
        baseline=given.baseline,
    )
