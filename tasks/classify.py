"""Explains a red gate."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prefect import task

from buildloop.context.session import window_in_force
from buildloop.diagnosis.actionability import SUMMARY_FILE, enhance_error_summary
from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.model import Attempt, Diagnosis, FailureMode, LogReading
from buildloop.diagnosis.run_dir import FAILURE_MODE, failure_mode_record
from buildloop.files import write_json
from buildloop.models import Frozen, Iteration, WorkspaceInfo
from buildloop.report.views import error_summary
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from buildloop.workspace.checkpoint import diff_text
from buildloop.workspace.worktree import stand_at
from tasks.masked_errors import masked_errors
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
@masked_errors
def classify(key: str, given: ClassifyInput) -> Classified:
    """Writes `error-summary.json` and `failure-mode.json` as it goes."""
    run, now = RunDir(given.request.run_dir), datetime.now(UTC)
    stand_at(given.workspace, given.iteration.head or given.workspace.start_commit)
    found = _diagnosis(given, run)
    write_json(run.path / SUMMARY_FILE, error_summary(given.iteration, given.request.test, now), view=True)
    _enrich(given, run)
    write_json(run.path / FAILURE_MODE, failure_mode_record(found, now), view=True)
    run.events.emit(
        "loop.failure_classified",
        mode=found.mode,
        iteration=given.iteration.number,
        confidence=found.confidence,
        evidence=list(found.evidence[:3]),
    )
    if found.mode is FailureMode.INFINITE_LOOP:
        run.events.emit(
            "loop.stuckness_detected",
            signals=len(found.evidence),
            count=len(given.history),
            iteration=given.iteration.number,
            reasons=list(found.evidence),
        )
    tell(f"{given.label}: {found.mode}", "diagnosis", found.mode)
    return Classified(diagnosis=found, error_lines=_enriched_lines(run))


def _enrich(given: ClassifyInput, run: RunDir) -> None:
    """What the agent changed last, and the source at the failing place, next to lines that say too little."""
    agent = given.iteration.agent
    changed = agent is not None and agent.checkpoint.changed
    point = agent.checkpoint if agent else None
    enhance_error_summary(
        run.path,
        changed_files=point.files if point else (),
        diff=diff_text(given.workspace, point.parent, point.commit) if point and changed else "",
        source_reader=_reader(Path(given.workspace.workdir)),
        emit=run.events.emit,
    )


def _reader(workdir: Path) -> Callable[[str], str | None]:
    def read(name: str) -> str | None:
        path = (workdir / name).resolve()
        if not path.is_relative_to(workdir.resolve()) or not path.is_file():
            return None
        return path.read_text(encoding="utf-8", errors="replace")

    return read


def _enriched_lines(run: RunDir) -> tuple[str, ...]:
    return tuple(json.loads((run.path / SUMMARY_FILE).read_text(encoding="utf-8"))["error_lines"])


def _diagnosis(given: ClassifyInput, run: RunDir) -> Diagnosis:
    forced = given.request.failure_mode
    if forced is not None:
        run.events.emit("loop.failure_mode_forced", mode=forced, iteration=given.iteration.number)
        return Diagnosis(forced, 1.0, ("forced by --failure-mode",), forced=True)
    agent = given.iteration.agent
    return diagnose(
        given.history,
        context_window=window_in_force(given.request, [agent.reply] if agent else []) or None,
        context_threshold=given.request.context_threshold,
        repo=Path(given.workspace.workdir),
        baseline=given.baseline,
    )
