"""Ends a run: what is handed back, the result for people and scripts, the branch given free."""

from __future__ import annotations

import os
from pathlib import Path

from buildloop.agents.home import forget_homes
from buildloop.decide import Stop
from buildloop.models import Iteration
from buildloop.progress import badness, introduced_by
from buildloop.redact import redactor
from buildloop.report.outcome import next_step
from buildloop.report.question import question_for
from buildloop.result import BuildResult, StopReason
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from buildloop.stopwatch import save_stopwatch, worked_seconds
from buildloop.workspace.best import forget_best, hand_back
from buildloop.workspace.checkpoint import Rules, Step, make_checkpoint
from buildloop.workspace.unfinished import keep_unfinished
from buildloop.workspace.worktree import release


def close_run(state: LoopState, stop: Stop) -> BuildResult:
    """Write `result.json` and leave the branch where a person wants it: at the proven tree, else at the best one."""
    run, complete = RunDir(state.request.run_dir), stop.reason.is_success
    given = _given_back(state, complete=complete)
    commit = state.head
    if not complete:
        _commit_answer(run, state)
        keep_unfinished(state.workspace, run.run_id, commit)
    if given is not None and given is not state.last and not _went_back(state):
        step = Step(run.run_id, state.session, state.number)
        commit = hand_back(state.workspace, step, state.head, state.best_commit)
    result = BuildResult(
        run_id=run.run_id,
        reason=stop.reason,
        explanation=stop.explanation,
        next_step=next_step(stop.reason, run.run_id, state.workspace.branch),
        iterations=state.number,
        sessions=state.session,
        branch=state.workspace.branch,
        commit=commit,
        tree=given.gate.tree if given else "",
        failing=given.gate.reading.failing if given else (),
        handed_back=given.number if given and given is not state.last else None,
        since=_since(state, given),
        question=question_for(state) if stop.reason is StopReason.STUCK else "",
        usage=run.ledger.spent(),
        seconds=round(worked_seconds(run.path), 1),
        run_dir=str(run.path),
    )
    save_stopwatch(run.path)
    release(state.workspace, keep=not complete)
    if complete:
        forget_best(state.workspace, run.run_id)
        forget_homes(run.path)
    run.save("result.json", result)
    return result


def _commit_answer(run: RunDir, state: LoopState) -> None:
    """An answer that is paid for but not committed yet must not go when the worktree is put back."""
    left = sorted(run.path.glob(f"iterations/*-{state.number + 1}/reply.json"))
    if not left or not Path(state.workspace.root).exists():
        return
    session, number = map(int, left[-1].parent.name.split("-"))
    rules = Rules(state.request.protect, os.environ, redactor(os.environ))
    step, title = Step(run.run_id, session, number), f"buildloop: iteration {number}"
    make_checkpoint(state.workspace, step, state.head, run.exclude_file, title, rules)


def _given_back(state: LoopState, *, complete: bool) -> Iteration | None:
    """The last iteration, unless an earlier one was really better: equal trees differ by work that may be wanted."""
    if not state.iterations:
        return None
    better = badness(state.best.gate) < badness(state.last.gate)
    return state.best if not complete and (better or _went_back(state)) else state.last


def _went_back(state: LoopState) -> bool:
    return state.last.recovery is not None and state.last.recovery.back_to is not None


def _since(state: LoopState, given: Iteration | None) -> dict[str, int]:
    """Since which iteration each failure of the tree that is handed back is there."""
    if given is None:
        return {}
    upto = [one for one in state.iterations if one.number <= given.number]
    return introduced_by(upto)
