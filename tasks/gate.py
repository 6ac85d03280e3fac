"""One run of the gate on one tree. Red is a result, not a failure of the task."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from git.exc import GitCommandError
from prefect import task

from buildloop.choices import IntegrityLevel
from buildloop.diagnosis.model import LogReading
from buildloop.errors import GateStillRed, GateUnavailable
from buildloop.gate.run import GateSetup, run_gate
from buildloop.guarded import commands_begun
from buildloop.models import CounterProof, GateReport, Verdict, WorkspaceInfo
from buildloop.recovery.quarantine import judge, quarantined
from buildloop.request import BuildRequest
from buildloop.text import one_line
from buildloop.workspace.ahead import asked_meanwhile
from buildloop.workspace.checkpoint import DIFF
from buildloop.workspace.integrity import Evidence, Ran, check_integrity, counter_proof, ran
from buildloop.workspace.integrity.trees import CHANGES
from buildloop.workspace.settled import AfterGate, arrive, leave, settle_after_gate
from buildloop.workspace.worktree import reopen
from tasks.masked_errors import masked_errors
from tasks.options import DURABLE, attempt_number, attempts_left, tell
from tasks.surroundings import Surroundings, gate_setup, surroundings

# How the logs of the counter-proof are called.
ORIGINALS = "originals"


@dataclass(frozen=True, slots=True)
class GateInput:
    """`commit` holds `tree`; the workspace is put there first. `step` names the log and the task run. `baseline` is
    what the gate said before the agent touched anything; without it what ran is not compared. `counter_proof` is what
    an earlier run on the same tree found: it is not asked again. `before` is the commit that the agent began with."""

    request: BuildRequest
    workspace: WorkspaceInfo
    session: int
    number: int
    step: str
    before: str
    commit: str
    tree: str
    commands: tuple[str, ...]
    environment: Mapping[str, str]
    baseline: LogReading | None = None
    must_run: bool = False
    counter_proof: CounterProof | None = None

    @property
    def proof(self) -> bool:
        """The last run before "complete" excuses nothing: a runner that stops at a flaky test hides the rest."""
        return self.step == "verify"

    @property
    def label(self) -> str:
        return f"{self.step} s{self.session} i{self.number}" if self.number else f"{self.step} baseline"


@task(name="gate", task_run_name="{given.label}", **DURABLE)
@masked_errors
def gate(key: str, given: GateInput) -> GateReport:
    """Run the commands. Where the policy allows reruns of a red gate, ask Prefect for one."""
    here = surroundings(given.request, given.workspace, given.environment)
    arrive(given.workspace, given.commit, here.mark)
    setup = gate_setup(here, given.request, given.workspace, given.session, given.number)
    with asked_meanwhile(Path(given.workspace.root), *_questions(given)):
        report = run_gate(given.commands, setup, given.tree, name=given.step)
    after = settle_after_gate(given.workspace, here.run.exclude_file)
    known = quarantined(Path(given.request.state_dir), given.workspace.repo_id, datetime.now(UTC))
    if not given.proof:
        report = judge(report, known)
    begun = commands_begun(here.mark)
    report = _with_integrity(given, here, report, after, _counter_proof(given, here, setup, known))
    if commands_begun(here.mark) != begun:
        after = settle_after_gate(given.workspace, here.run.exclude_file)
    leave(given.workspace, given.commit, here.mark, clean=after.clean)
    tell(f"{given.label}: {report.in_words}", "gate", report.verdict)
    if report.verdict is Verdict.COULD_NOT_RUN and given.must_run:
        raise GateUnavailable(report.explanation)
    if not report.passed and attempts_left():
        raise GateStillRed(f"{report.in_words} at attempt {attempt_number()}")
    return report.model_copy(update={"attempts": attempt_number()})


def _questions(given: GateInput) -> Iterator[tuple[str, ...]]:
    """What the comparison with the start, and the diagnosis of a red gate, will ask of git."""
    if given.request.integrity is not IntegrityLevel.OFF:
        yield (*CHANGES, given.workspace.start_commit, given.commit)
    if given.before != given.commit:
        yield (*DIFF, given.before, given.commit)


def _counter_proof(
    given: GateInput, here: Surroundings, setup: GateSetup, known: Collection[str]
) -> Callable[[Evidence], CounterProof | None] | None:
    """The way to run the tests of the start on the new code; None where that is not wanted or says nothing."""
    if given.baseline is None or not given.request.counter_proof:
        return None

    def run(tree: str, attempt: int) -> tuple[GateReport, Ran]:
        name = f"{ORIGINALS}-{given.step}-{attempt}"
        report = run_gate(given.request.test, setup, tree, name=name)
        return report, ran(report.reading, setup.output_dir.glob(f"{name}*.junit.xml"))

    def prove(evidence: Evidence) -> CounterProof | None:
        if given.counter_proof is not None:
            return given.counter_proof
        try:
            proof = counter_proof(replace(evidence, commands=given.request.test), run, known)
        except (GitCommandError, OSError) as error:
            reopen(given.workspace, given.commit)
            here.run.events.emit("loop.degraded", what="counter-proof", why=here.redact(one_line(str(error))))
            return None
        if proof is not None:
            here.run.events.emit(
                "loop.counter_proof",
                iteration=given.number,
                verdict=proof.verdict,
                files=proof.files,
                failing=[here.redact(one) for one in proof.failing],
                why=here.redact(proof.why),
                seconds=round(proof.seconds, 3),
            )
        return proof

    return prove


def _with_integrity(
    given: GateInput,
    here: Surroundings,
    report: GateReport,
    after: AfterGate,
    prove: Callable[[Evidence], CounterProof | None] | None,
) -> GateReport:
    before = now = Ran()
    if given.baseline is not None:
        before = ran(given.baseline, here.run.iteration_dir(1, 0).glob("*.junit.xml"))
        left = here.run.iteration_dir(given.session, given.number).glob(f"{given.step}*.junit.xml")
        now = ran(report.reading, left)
    request = given.request
    green = report.passed
    evidence = Evidence(
        given.workspace,
        given.commit,
        given.commands,
        before,
        now,
        request.allow_test_changes,
        after.untracked,
        green=green,
    )
    report = check_integrity(
        report, evidence, request.integrity, here.redact, prove and partial(prove, evidence)
    )
    if green and not report.passed:
        here.run.events.emit(
            "loop.completion_rejected", iteration=given.number, reason=here.redact(report.explanation)
        )
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
