"""Writes down a finished iteration: the run's files, its events, what memory learns, the artifacts in the UI."""

from __future__ import annotations

from datetime import UTC, datetime

from prefect import get_run_logger, task
from pydantic import BaseModel

from buildloop.decide import Continue, decide
from buildloop.events import read_events
from buildloop.files import write_atomic
from buildloop.github.record import load_record
from buildloop.goal import write_state
from buildloop.memory.model import History
from buildloop.people.hints import unheard
from buildloop.progress import Effect, recovery_effects
from buildloop.recovery.plain import PLAIN
from buildloop.report.advice import load_advice
from buildloop.report.facts import RunFacts, degraded_in
from buildloop.report.views import log_line, progress_text, state_file, timestamp
from buildloop.result import BuildResult
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from buildloop.stopwatch import save_stopwatch
from buildloop.workspace.best import mark_best
from tasks.artifacts import publish
from tasks.bucket import keep
from tasks.live_views import show_soon
from tasks.masked_errors import masked_errors
from tasks.options import DURABLE, tell
from tasks.recover import tell_recovery
from tasks.remember import remember, remember_and_recall

# One iteration tells less than this; reading on would cost more with every iteration.
RECENT_BYTES = 256 * 1024


class Recorded(BaseModel):
    """`recalled` is what memory says for the next prompt; none where no iteration follows at once."""

    number: int
    recalled: History | None = None


@task(name="record", task_run_name="record s{state.session} i{state.number}", **DURABLE)
@masked_errors
def record(key: str, state: LoopState) -> Recorded:
    run, now = RunDir(state.request.run_dir), datetime.now(UTC)
    run.save_iteration(state.last)
    save_stopwatch(run.path)
    mark_best(state.workspace, run.run_id, state.best_commit)
    write_views(run, state, "running", now)
    if not _was_told(run, state):
        _emit(run, state)
    show_soon(run.run_id, "artifacts", lambda: publish(run, lambda: facts_from(run, state)))
    fixed, recalled = _with_memory(state)
    keep(state.request, state.workspace)
    get_run_logger().info(log_line(state.last))
    said = [f"{fixed} fixed"] if fixed else []
    said += [f"{recalled.known_fixes} known fixes"] if recalled and recalled.known_fixes else []
    tell(f"record s{state.session} i{state.number}{': ' if said else ''}{', '.join(said)}", "record")
    return Recorded(number=state.number, recalled=recalled)


def _with_memory(state: LoopState) -> tuple[int, History | None]:
    if not isinstance(decide(state), Continue):
        return remember(state), None
    hints = [hint.text for hint in unheard(state.request.run_dir, state.heard)]
    return remember_and_recall(state, hints)


def facts_from(run: RunDir, state: LoopState, result: BuildResult | None = None) -> RunFacts:
    return RunFacts(
        request=state.request,
        workspace=state.workspace,
        iterations=state.iterations,
        result=result,
        started=run.started,
        running=result is None,
        calls=tuple(run.ledger.calls()),
        degraded=degraded_in(run) if result else (),
        pull_request=load_record(run.path).pull_url,
        advice=load_advice(run.path),
    )


def write_views(run: RunDir, state: LoopState, status: str, now: datetime) -> None:
    write_state(run.path / "loop-state.md", state_file(state, status, timestamp(run.started), now))
    write_atomic(run.path / "progress.md", progress_text(state, status, now), view=True)
    if state.last.gate.passed:
        (run.path / "error-summary.json").unlink(missing_ok=True)


def _was_told(run: RunDir, state: LoopState) -> bool:
    """Killed after its last event but before its result was kept, this task runs again; what it told counts once."""
    last = state.last
    wanted = ("loop.iteration_complete", last.number) if last.agent else ("loop.baseline", None)
    recent = read_events(run.events.path, last_bytes=RECENT_BYTES, only=wanted[0])
    return any((event["type"], event.get("iteration")) == wanted for event in recent)


def _emit(run: RunDir, state: LoopState) -> None:
    last, (spent_in, spent_out) = state.last, state.fill
    if last.recovery and last.recovery.strategy.action in PLAIN:
        tell_recovery(run, last.recovery, state.restarts)
    _emit_effects(run, state)
    counts = last.gate.reading.counts
    if last.agent is None:
        run.events.emit(
            "loop.baseline",
            verdict=last.gate.verdict,
            failing=last.gate.failing_count,
            test_counts=[counts.passed, counts.run] if counts else None,
        )
        return
    run.events.emit(
        "loop.context_usage",
        iteration=last.number,
        input_tokens=spent_in,
        output_tokens=spent_out,
        usage_pct=state.context_pct,
        threshold=state.request.context_threshold,
    )
    if state.context_due:
        run.events.emit(
            "loop.context_exhaustion_warning",
            iteration=last.number,
            usage_pct=state.context_pct,
            threshold=state.request.context_threshold,
            input_tokens=spent_in,
            output_tokens=spent_out,
            window=state.window,
        )
    total = run.ledger.spent()
    run.events.emit(
        "loop.iteration_complete",
        iteration=last.number,
        max=state.max_iterations,
        session=last.session,
        agent=last.agent.reply.agent or state.request.agent,
        test_passed=last.gate.passed,
        commits=int(last.agent.checkpoint.changed),
        status=last.gate.in_words,
        failing=last.gate.failing_count,
        test_counts=[counts.passed, counts.run] if counts else None,
        mode=last.diagnosis.mode if last.diagnosis else None,
        action=last.recovery.strategy.action if last.recovery else None,
        context_pct=state.context_pct,
        files=len(last.agent.checkpoint.files),
        outcome=last.agent.reply.outcome,
        cost_usd=total.cost_usd,
        tokens=total.all_tokens,
    )
    if state.extensions and state.max_iterations - state.request.extension_size == last.number:
        run.events.emit(
            "loop.extended",
            iteration=last.number,
            max=state.max_iterations,
            extension=state.extensions,
        )


def _emit_effects(run: RunDir, state: LoopState) -> None:
    """What the recoveries before this gate have brought: those of the last iteration and this one's own."""
    recent = state.iterations[-2:]
    for found in recovery_effects(recent):
        own = found.iteration == state.number
        late = not own and found.remedy is recent[0].remedies[-1]
        if found.effect is not Effect.UNKNOWN and (own or late):
            run.events.emit(
                "loop.recovery_outcome",
                iteration=found.iteration,
                mode=found.remedy.recovery.strategy.mode,
                action=found.remedy.recovery.strategy.action,
                effect=found.effect,
                step=found.remedy.recovery.step,
                fingerprint=found.remedy.fingerprint,
            )
