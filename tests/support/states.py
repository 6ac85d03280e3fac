"""Loop states, iterations and gate reports as values, for tests of pure decisions."""

from __future__ import annotations

from buildloop.diagnosis.model import Diagnosis, FailureMode, Finding, LogReading, TestCounts
from buildloop.models import (
    AgentOutcome,
    AgentReply,
    AgentRun,
    Checkpoint,
    CommandResult,
    GateReport,
    Iteration,
    LadderStep,
    Recovery,
    Remedy,
    Usage,
    Verdict,
    WorkspaceInfo,
)
from buildloop.recovery.strategies import strategy_for
from buildloop.request import BuildRequest
from buildloop.state import LoopState

START = "0" * 40
WORKSPACE = WorkspaceInfo(
    root="/w",
    workdir="/w",
    branch="buildloop/r1",
    start_commit=START,
    start_tree="tree-0",
    repo="/r",
    repo_id="id",
)


def request(**changes: object) -> BuildRequest:
    fields: dict[str, object] = {
        "goal": "make the tests pass",
        "repo": "/r",
        "test": ("pytest -q",),
        "agent_command": "agent",
        "state_dir": "/s",
        "run_id": "r1",
    }
    return BuildRequest.model_validate({**fields, **changes})


def report(
    verdict: Verdict = Verdict.FAILED,
    tree: str = "tree-0",
    failing: tuple[str, ...] = ("t::a",),
    tail: str = "",
) -> GateReport:
    red = verdict is not Verdict.PASSED
    names = failing if red else ()
    reading = LogReading(
        findings=tuple(Finding(message=f"{name} is wrong", test=name) for name in names),
        counts=TestCounts(run=10, passed=10 - len(names), failed=len(names)),
        failing=names,
        error_lines=tuple(f"E   {name} is wrong" for name in names),
    )
    ran = CommandResult(command="pytest -q", verdict=verdict, exit_code=int(red), seconds=1.0, log="gate.log")
    return GateReport(verdict=verdict, tree=tree, commands=(ran,), reading=reading, tail=tail)


GREEN = report(Verdict.PASSED)
RED = report()


def remedy(
    mode: FailureMode,
    *,
    note: str = "",
    back_to: str | None = None,
    step: LadderStep | None = None,
    rung: int | None = None,
    helped: bool = False,
    fingerprint: str = "f",
) -> Remedy:
    recovery = Recovery(
        strategy=strategy_for(mode),
        outcome="done",
        note=note,
        back_to=back_to,
        step=step,
        rung=rung,
        helped=helped,
    )
    return Remedy(fingerprint=fingerprint, diagnosis=Diagnosis(mode, 0.9), recovery=recovery)


def iteration(
    number: int,
    gate: GateReport,
    *,
    session: int = 1,
    outcome: AgentOutcome = AgentOutcome.OK,
    usage: Usage | None = None,
    claims_done: bool = False,
    said: str = "",
    mode: FailureMode | None = None,
    rung: int = 0,
    **recovery: object,
) -> Iteration:
    """Number 0 is the baseline, without an agent."""
    commit = f"{number:040d}"
    reply = AgentReply(outcome=outcome, usage=usage or Usage(), claims_done=claims_done, text=said, rung=rung)
    point = Checkpoint(parent=START, commit=commit, tree=gate.tree, files=(f"file{number}.py",))
    return Iteration(
        session=session,
        number=number,
        reports=(gate,),
        agent=AgentRun(reply=reply, checkpoint=point) if number else None,
        remedies=(remedy(mode, **recovery),) if mode else (),  # type: ignore[arg-type]
    )


def state(*iterations: Iteration, **changes: object) -> LoopState:
    """A run that has gone through `iterations`, which begin with the baseline."""
    now = LoopState.start(request(**changes), WORKSPACE)
    for one in iterations:
        now = now.with_iteration(one)
    return now
