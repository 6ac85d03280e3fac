"""One run of the gate on one tree. Red is a result, not a failure of the task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prefect import task

from buildloop.diagnosis.model import LogReading
from buildloop.errors import GateStillRed, GateUnavailable
from buildloop.gate.run import GateSetup, run_gate
from buildloop.models import GateReport, Verdict, WorkspaceInfo
from buildloop.recovery.quarantine import judge, quarantined
from buildloop.request import BuildRequest
from buildloop.workspace.checkpoint import settle_after_gate
from buildloop.workspace.integrity import Evidence, Ran, check_integrity, ran
from buildloop.workspace.worktree import reopen
from tasks.options import DURABLE, attempt_number, attempts_left, tell
from tasks.surroundings import Surroundings, surroundings


@dataclass(frozen=True, slots=True)
class GateInput:
    """`commit` holds `tree`; the workspace is put there first. `step` names the log and the task run. `baseline` is
    what the gate said before the agent touched anything; without it what ran is not compared."""

    request: BuildRequest
    workspace: WorkspaceInfo
    session: int
    number: int
    step: str
    commit: str
    tree: str
    commands: tuple[str, ...]
    environment: Mapping[str, str]
    baseline: LogReading | None = None
    must_run: bool = False

    @property
    def proof(self) -> bool:
        """The last run before "complete" excuses nothing: a runner that stops at a flaky test hides the rest."""
        return self.step == "verify"

    @property
    def label(self) -> str:
        return f"{self.step} s{self.session} i{self.number}" if self.number else f"{self.step} baseline"


@task(name="gate", task_run_name="{given.label}", **DURABLE)
def gate(key: str, given: GateInput) -> GateReport:
    """Run the commands. Where the policy allows reruns of a red gate, ask Prefect for one."""
    here = surroundings(given.request, given.workspace, given.environment)
    reopen(given.workspace, given.commit)
    setup = GateSetup(
        workdir=here.workdir,
        run_dir=here.run.path,
        output_dir=here.run.iteration_dir(given.session, given.number),
        environment=here.environment,
        timeout=given.request.gate_timeout,
        mark=here.mark,
        redact=here.redact,
        repo_id=given.workspace.repo_id,
        green_logs=Path(given.request.state_dir) / "green",
        junit=given.request.junit,
        sandbox=here.sandbox,
    )
    report = run_gate(given.commands, setup, given.tree, name=given.step)
    settle_after_gate(given.workspace, here.run.exclude_file)
    if not given.proof:
        known = quarantined(Path(given.request.state_dir), given.workspace.repo_id, datetime.now(UTC))
        report = judge(report, known)
    report = _with_integrity(given, here, report)
    tell(f"{given.label}: {report.in_words}", "gate", report.verdict)
    if report.verdict is Verdict.COULD_NOT_RUN and given.must_run:
        raise GateUnavailable(report.explanation)
    if not report.passed and attempts_left():
        raise GateStillRed(f"{report.in_words} at attempt {attempt_number()}")
    return report.model_copy(update={"attempts": attempt_number()})


def _with_integrity(given: GateInput, here: Surroundings, report: GateReport) -> GateReport:
    before = now = Ran()
    if given.baseline is not None:
        before = ran(given.baseline, here.run.iteration_dir(1, 0).glob("*.junit.xml"))
        left = here.run.iteration_dir(given.session, given.number).glob(f"{given.step}*.junit.xml")
        now = ran(report.reading, left)
    request = given.request
    evidence = Evidence(
        given.workspace, given.commit, given.commands, before, now, request.allow_test_changes
    )
    report = check_integrity(report, evidence, request.integrity, here.redact)
    for one in report.tampering:
        here.run.events.emit(
            "loop.tampering",
            iteration=given.number,
            rule=one.rule,
            file=one.file,
            text=one.text,
            blocks=one.blocks,
        )
    return report
