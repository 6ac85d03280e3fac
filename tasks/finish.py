"""Ends a run: result, last views, the branch given free."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from prefect import task

from buildloop.closing import close_run
from buildloop.decide import Stop
from buildloop.report.write import write_reports
from buildloop.result import BuildResult, StopReason
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from tasks.advise import advised
from tasks.artifacts import publish
from tasks.bucket import keep
from tasks.live_views import show_now
from tasks.masked_errors import masked_errors
from tasks.options import tell
from tasks.record import facts_from, write_views


@dataclass(frozen=True, slots=True)
class FinishInput:
    state: LoopState
    stop: Stop


@task(name="finish", task_run_name="finish")
@masked_errors
def finish(given: FinishInput) -> BuildResult:
    """Not kept as a result: a run that stopped may be resumed and end differently."""
    state, stop = given.state, given.stop
    run, now = RunDir(state.request.run_dir), datetime.now(UTC)
    result = close_run(state, stop)
    facts = facts_from(run, state, result)
    if not stop.reason.is_success and stop.reason is not StopReason.CANCELLED:
        facts = advised(run, facts)
    write_reports(run, facts)
    if state.iterations:
        write_views(run, state, stop.reason, now)
        show_now(run.run_id, "artifacts", lambda: publish(run, lambda: facts))
    commits = sum(1 for one in state.iterations if one.agent and one.agent.checkpoint.changed)
    run.events.emit(
        "loop.completed",
        reason=stop.reason,
        iterations=state.number,
        commits=commits,
        explanation=stop.explanation,
    )
    keep(state.request, state.workspace)
    tell(f"finish: {stop.reason}", stop.reason)
    return result
