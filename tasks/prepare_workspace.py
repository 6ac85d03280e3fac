"""Makes the run's workspace, or finds it again."""

from __future__ import annotations

from prefect import task
from prefect.runtime import flow_run

from buildloop.models import WorkspaceInfo
from buildloop.people.answer import forget_stops
from buildloop.process import sweep
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from buildloop.sandbox import sandbox_of
from buildloop.stopwatch import start_stopwatch
from buildloop.workspace.worktree import check_branch_unmoved, prepare_worktree
from tasks.bucket import keep
from tasks.masked_errors import masked_errors
from tasks.options import DURABLE, tell


@task(name="prepare_workspace", task_run_name="prepare workspace", **DURABLE)
@masked_errors
def prepare_workspace(key: str, request: BuildRequest) -> WorkspaceInfo:
    """A worktree on the run's own branch. The user's checkout, index and stash stay as they are."""
    run = RunDir(request.run_dir)
    run.save("request.json", request)
    workspace = prepare_worktree(request)
    run.save("workspace.json", workspace)
    run.events.emit(
        "loop.started",
        goal=request.goal,
        agent=request.agent,
        tests=list(request.test),
        max_iterations=request.max_iterations,
        max_restarts=request.max_restarts,
    )
    keep(request, workspace)
    tell("prepare workspace", "workspace")
    return workspace


@task(name="take_over", task_run_name="take over")
@masked_errors
def take_over(request: BuildRequest) -> list[int]:
    """End whatever an earlier, killed process of this run left behind. Runs first, every time.

    How the run ended before is not how it ends now; the file would be taken for it after a crash.
    """
    run = RunDir(request.run_dir)
    start_stopwatch(run.path)
    left = sweep(run.mark)
    sandbox_of(request).end(run.mark)
    before, workspace = run.result(), run.workspace()
    if before is not None and workspace is not None:
        check_branch_unmoved(workspace, before.commit)
    if before is not None:
        forget_stops(run.path)
    run.forget_result()
    run.events.emit("loop.flow_run", id=flow_run.id, url=flow_run.ui_url, left_behind=left)
    return left
