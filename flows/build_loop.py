"""The flow `build-loop`: baseline, then iterations until the gate is green, a limit is met or nothing helps."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_never

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed

from buildloop.cancel import stoppable
from buildloop.decide import Continue, Restart, Stop, decide
from buildloop.errors import (
    AgentRefused,
    AgentUnavailable,
    BudgetExceeded,
    BuildloopError,
    GateUnavailable,
    InputError,
    RunCancelled,
    RunLocked,
)
from buildloop.github.record import heading
from buildloop.guarded import guards_kept
from buildloop.people.answer import Answer, Choice
from buildloop.people.asked import asks
from buildloop.people.granted import after, read_granted, with_granted
from buildloop.people.hints import unheard
from buildloop.recovery.policy import RetryPolicy
from buildloop.request import EXTENSIONS_CAP, RESTART_CAP, BuildRequest
from buildloop.result import BuildResult, StopReason
from buildloop.rundir import RunDir
from buildloop.sandbox import check_sandbox, sandbox_of
from buildloop.state import LoopState
from buildloop.workspace.git import forget_calling_git
from buildloop.workspace.kept_git import git_kept
from buildloop.workspace.lock import run_lock
from buildloop.workspace.worktree import open_again
from flows.steps import end_session, first_gate, next_iteration
from tasks.ask import answer_of_a_person, go_on_with
from tasks.bucket import fetch
from tasks.finish import FinishInput, finish
from tasks.forward import told_to_prefect
from tasks.github import read_issue, tell_github
from tasks.lease import leased
from tasks.live_views import live_views
from tasks.masked_errors import masked_error
from tasks.masked_logs import mask_logs
from tasks.options import as_one, configured, short_id, step_key
from tasks.prefect_cancel import stopped_by_prefect
from tasks.prepare_workspace import prepare_workspace, take_over
from tasks.record import facts_from

# Crashed runs are started again by an automation; one that kills its worker every time must not go round for ever.
MOST_STARTS = 20

# What kept us from getting an answer ends the run with its own reason; it can be resumed.
STOPPING: dict[type[BuildloopError], StopReason] = {
    AgentRefused: StopReason.AGENT_REFUSED,
    AgentUnavailable: StopReason.AGENT_UNAVAILABLE,
    GateUnavailable: StopReason.GATE_COULD_NOT_RUN,
    BudgetExceeded: StopReason.BUDGET,
    RunCancelled: StopReason.CANCELLED,
}


def _own_run_id() -> str:
    """A run started from a deployment is named after its flow run, so that a retry of it finds its work."""
    return f"run-{short_id(str(flow_run.id))}"


def _run_name() -> str:
    request = flow_run.parameters["request"]
    return str(BuildRequest.model_validate(request).run_id or _own_run_id())


@flow(name="build-loop", flow_run_name=_run_name, validate_parameters=True)
def build_loop(request: BuildRequest) -> State[BuildResult]:
    """Iterate a coding agent until the gate is green; diagnose, recover and restart when it is red.

    Args:
        request: What to achieve, in which repository, what decides, and where to stop.
    """
    mask_logs()
    if (flow_run.run_count or 0) > MOST_STARTS:
        why = (
            f"It was started {MOST_STARTS} times and crashed each time; look at the worker's log and memory."
        )
        return Failed(name="CrashedTooOften", message=why)
    forget_calling_git()
    request = request if request.run_id else request.named(_own_run_id())
    try:
        with (
            run_lock(request.run_dir),
            stoppable(request.run_dir),
            stopped_by_prefect(request.run_dir),
            leased(request),
            told_to_prefect(str(request.run_id)),
            live_views(str(request.run_id)),
            guards_kept(RunDir(request.run_dir).mark),
        ):
            check_sandbox(sandbox_of(request))
            fetch(request)
            result = _work(request)
    except InputError as error:
        name = "RunLocked" if isinstance(error, RunLocked) else "InvalidRequest"
        return Failed(name=name, message=str(error), data=error)
    except Exception as error:
        raise masked_error(error) from error.__cause__
    return _final_state(result)


def _work(request: BuildRequest) -> BuildResult:
    take_over(request)
    request = _with_issue(request)
    prepare = configured(prepare_workspace, RetryPolicy(), request)
    workspace = prepare(step_key(request, 1, 0, "prepare"), request)
    open_again(workspace)
    with git_kept(Path(workspace.root), Path(workspace.repo)):
        return _until_ended(LoopState.start(request, workspace))


def _until_ended(state: LoopState) -> BuildResult:
    request = state.request
    state = with_granted(state, read_granted(request.run_dir))
    while True:
        state, stop = _until_stop(state)
        if stop.reason is StopReason.STUCK and unheard(request.run_dir, state.heard):
            # Nothing was left to try; a person has told it something since. The same on every replay.
            state = after(state, stop.reason, Answer())
            continue
        if asks(state, stop):
            given = answer_of_a_person(state, stop)
            if given.choice is Choice.CONTINUE:
                state = go_on_with(state, stop, given)
                continue
            if given.choice is Choice.ACCEPT:
                stop = Stop(StopReason.ACCEPTED, f"A person accepted it as it is. {stop.explanation}")
            else:
                stop = Stop(stop.reason, f"A person was asked and stopped it. {stop.explanation}")
        return _ended(state, stop)


def _until_stop(state: LoopState) -> tuple[LoopState, Stop]:
    request = state.request
    restarts = max(RESTART_CAP, state.max_restarts)
    most = state.max_iterations + EXTENSIONS_CAP * request.extension_size + restarts + 1
    try:
        state = state if state.iterations else first_gate(state)
        for _ in range(most):
            match decide(state):
                case Continue():
                    state = next_iteration(state)
                case Restart(reason):
                    state = end_session(state, reason)
                case Stop() as stop:
                    return state, stop
                case other:
                    assert_never(other)
    except tuple(STOPPING) as error:
        return state, Stop(STOPPING[type(error)], str(error))
    raise AssertionError("every walk ends with a decision to stop")


def state_name(reason: StopReason) -> str:
    if reason is StopReason.BUDGET:
        return "BudgetExceeded"
    return "".join(word.capitalize() for word in reason.split("_"))


def _with_issue(request: BuildRequest) -> BuildRequest:
    """Goal and context from the issue, read once; a resumed run keeps what it began with."""
    if request.issue is None or heading(request.issue) in request.context:
        return request
    read = configured(read_issue, RetryPolicy(), request)
    found = read(step_key(request, 1, 0, "issue"), request)
    return request.model_copy(update={"goal": found.goal, "context": found.context})


def _ended(state: LoopState, stop: Stop) -> BuildResult:
    result = finish(as_one(FinishInput(state, stop)))
    if state.request.issue is not None and stop.reason is not StopReason.CANCELLED:
        tell_github(facts_from(RunDir(state.request.run_dir), state, result))
    return result


def _final_state(result: BuildResult) -> State[Any]:
    """Named by what happened, so that filters and automations can use it."""
    message = f"{result.explanation} Next: {result.next_step}."
    if result.reason is StopReason.COMPLETE:
        return Completed(message=message, data=result)
    if result.reason is StopReason.ACCEPTED:
        return Completed(name="Accepted", message=message, data=result)
    if result.reason is StopReason.CANCELLED:
        return Cancelled(message=message, data=result)
    return Failed(name=state_name(result.reason), message=message, data=result)
