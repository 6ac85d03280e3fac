"""Carries out the strategy for a diagnosis, where that is a deed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prefect import task

from buildloop.errors import InstallUnavailable
from buildloop.models import LadderStep, Recovery, Strategy, WorkspaceInfo
from buildloop.recovery.install import install_dependencies
from buildloop.recovery.quarantine import Evidence, add
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from buildloop.workspace.checkpoint import Step, go_back
from buildloop.workspace.worktree import put_back, stand_at
from tasks.bucket import keep
from tasks.masked_errors import masked_errors
from tasks.options import DURABLE, attempts_left, tell
from tasks.surroundings import surroundings


@dataclass(frozen=True, slots=True)
class RecoverInput:
    """`redirect` and `best_commit` are for the strategy that goes back and forbids; `step` and `rung` say where on the
    ladder that is; `tried_before`, that this very action did not cure this very failure earlier in the run."""

    request: BuildRequest
    workspace: WorkspaceInfo
    session: int
    number: int
    strategy: Strategy
    environment: Mapping[str, str]
    restarts: int
    tried_before: bool
    flaky: tuple[str, ...]
    tree: str
    evidence: tuple[str, ...]
    redirect: str
    head: str
    best_commit: str
    step: LadderStep | None = None
    rung: int | None = None

    @property
    def label(self) -> str:
        return f"recover s{self.session} i{self.number}"


@task(name="recover", task_run_name="{given.label}", **DURABLE)
@masked_errors
def recover(key: str, given: RecoverInput) -> Recovery:
    recovery = _act(given)
    tell_recovery(RunDir(given.request.run_dir), recovery, given.restarts)
    tell(f"{given.label}: {given.strategy.action}", "recovery", given.strategy.action)
    return recovery


def tell_recovery(run: RunDir, recovery: Recovery, restarts: int) -> None:
    run.events.emit(
        "loop.recovery_applied",
        mode=recovery.strategy.mode,
        restart=restarts,
        action=recovery.strategy.action,
        outcome=recovery.outcome,
        step=recovery.step,
    )


def _act(given: RecoverInput) -> Recovery:
    match given.strategy.action:
        case "reinstall_deps":
            return _reinstall(given)
        case "reduce_and_redirect":
            return _redirect(given)
        case "rerun_tests":
            return _quarantine(given)
        case other:
            raise ValueError(f"nothing is done for {other}")


def _quarantine(given: RecoverInput) -> Recovery:
    """Tests that passed and failed on one tree are known from now on; the gate is run again by its policy."""
    again = "what failed is run again on the same tree"
    if not given.flaky:
        return Recovery(strategy=given.strategy, outcome=again, helped=True)
    seen = Evidence(run=str(given.request.run_id), tree=given.tree, outcomes=("failed", "passed"))
    store = Path(given.request.state_dir)
    add(store, given.workspace.repo_id, given.flaky, seen, datetime.now(UTC))
    known = f"{again}; quarantined as flaky: {', '.join(given.flaky)}"
    return Recovery(strategy=given.strategy, outcome=known, helped=True)


def _redirect(given: RecoverInput) -> Recovery:
    stand_at(given.workspace, given.head)
    step = Step(str(given.request.run_id), given.session, given.number)
    commit = go_back(given.workspace, step, given.head, given.best_commit)
    put_back(given.workspace, commit)
    keep(given.request, given.workspace)
    taken = str(given.step).replace("_", " ")
    who = f" ({given.request.agents[given.rung]})" if given.rung is not None else ""
    return Recovery(
        strategy=given.strategy,
        outcome=f"back to the tree of commit {given.best_commit[:10]}, approach forbidden; {taken}{who}",
        note=given.redirect,
        back_to=commit,
        step=given.step,
        rung=given.rung,
    )


def _reinstall(given: RecoverInput) -> Recovery:
    if given.tried_before:
        wrong = "; ".join(given.evidence[:3])
        return Recovery(
            strategy=given.strategy,
            outcome="installing did not help before, so the agent is told what is wrong",
            note=f"Installing the declared dependencies does not help; declare or avoid what is missing: {wrong}",
        )
    stand_at(given.workspace, given.head)
    here = surroundings(given.request, given.workspace, given.environment)
    log = here.run.iteration_dir(given.session, given.number) / "install.log"
    try:
        install = install_dependencies(
            here.workdir,
            here.run.path,
            log,
            here.environment,
            here.mark,
            here.redact,
            Path(given.workspace.root),
        )
    except InstallUnavailable as error:
        if attempts_left():
            raise
        return Recovery(
            strategy=given.strategy, outcome=str(error), note=f"Nothing could be installed: {error}."
        )
    wrong = f" Wrong: {'; '.join(install.wrong)}." if install.wrong else ""
    note = (
        ""
        if install.done
        else f"A dependency is missing and could not be installed: {install.explanation}.{wrong}"
    )
    return Recovery(
        strategy=given.strategy,
        outcome=install.explanation,
        helped=install.done,
        note=note,
        environment=dict(install.environment),
    )
