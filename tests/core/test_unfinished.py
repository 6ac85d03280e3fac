"""An answer that was paid for is not lost when the run is stopped before its iteration ended."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from buildloop.closing import close_run
from buildloop.decide import Stop
from buildloop.files import write_atomic
from buildloop.models import AgentOutcome, AgentReply
from buildloop.result import StopReason
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from buildloop.workspace.checkpoint import Step, make_checkpoint
from buildloop.workspace.unfinished import take_up_unfinished
from buildloop.workspace.worktree import prepare_worktree
from tests.support.repos import git

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CANCELLED = Stop(StopReason.CANCELLED, "Cancelled.")


def answered(request_for, repo):
    request = request_for(repo)
    run = RunDir(request.run_dir)
    run.save("request.json", request)
    workspace = prepare_worktree(request)
    reply = AgentReply(outcome=AgentOutcome.OK)
    write_atomic(run.iteration_dir(1, 1) / "reply.json", reply.model_dump_json())
    (Path(workspace.root) / "paid.py").write_text("x = 1\n")
    return run, LoopState.start(request, workspace), Step(run.run_id, 1, 1)


def checkpoint(run, state, step):
    return make_checkpoint(state.workspace, step, state.head, run.exclude_file, "buildloop: iteration 1")


def test_work_that_was_not_committed_yet_is_taken_up_again(request_for, repo):
    run, state, step = answered(request_for, repo)
    result = close_run(state, CANCELLED)
    assert git(repo, "rev-parse", result.branch) == state.workspace.start_commit
    assert not (Path(state.workspace.root) / "paid.py").exists()
    take_up_unfinished(state.workspace, step, state.head)
    assert checkpoint(run, state, step).files == ("paid.py",)


def test_a_commit_that_was_not_recorded_yet_is_taken_up_again(request_for, repo):
    run, state, step = answered(request_for, repo)
    made = checkpoint(run, state, step)
    close_run(state, CANCELLED)
    take_up_unfinished(state.workspace, step, state.head)
    assert checkpoint(run, state, step) == made


def test_what_belongs_to_another_iteration_is_left_alone(request_for, repo):
    run, state, step = answered(request_for, repo)
    checkpoint(run, state, step)
    close_run(state, CANCELLED)
    take_up_unfinished(state.workspace, Step(run.run_id, 1, 2), state.head)
    assert not (Path(state.workspace.root) / "paid.py").exists()
