"""Ends a run: result, last views, the branch given free."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime

from prefect import task

from buildloop.decide import Stop
from buildloop.files import write_atomic
from buildloop.redact import redactor
from buildloop.report.markdown import run_report
from buildloop.report.outcome import next_step
from buildloop.result import BuildResult, StopReason
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from buildloop.workspace.worktree import release
from tasks.artifacts import publish
from tasks.options import tell
from tasks.record import facts_from, write_page, write_views


@dataclass(frozen=True, slots=True)
class FinishInput:
    state: LoopState
    stop: Stop


@task(name="finish", task_run_name="finish")
def finish(given: FinishInput) -> BuildResult:
    """Not kept as a result: a run that stopped may be resumed and end differently."""
    state, stop = given.state, given.stop
    run, now = RunDir(state.request.run_dir), datetime.now(UTC)
    started = (run.path / "request.json").stat().st_mtime
    result = BuildResult(
        run_id=run.run_id,
        reason=stop.reason,
        explanation=stop.explanation,
        next_step=next_step(stop.reason, run.run_id, state.workspace.branch),
        iterations=state.number,
        sessions=state.session,
        branch=state.workspace.branch,
        commit=state.head,
        tree=state.last.gate.tree if state.iterations else "",
        failing=state.last.gate.reading.failing if state.iterations else (),
        usage=state.total_usage,
        seconds=round(now.timestamp() - started, 1),
        run_dir=str(run.path),
    )
    release(state.workspace, keep=stop.reason is not StopReason.COMPLETE)
    run.save("result.json", result)
    facts = facts_from(run, state, result)
    write_atomic(run.path / "report.md", redactor(os.environ)(run_report(facts)))
    write_page(run, facts)
    if state.iterations:
        write_views(run, state, stop.reason, now)
        publish(run, facts)
    commits = sum(1 for one in state.iterations if one.agent and one.agent.checkpoint.changed)
    run.events.emit("loop.completed", reason=stop.reason, iterations=state.number, commits=commits)
    tell(f"finish: {stop.reason}", stop.reason)
    return result
