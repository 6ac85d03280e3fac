"""The values that cross borders: task results, files, stores. Frozen, validated, JSON both ways."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from buildloop.agents.reply import AgentOutcome, AgentReply, Permissions, Usage
from buildloop.diagnosis.model import Diagnosis, Finding, LogReading
from buildloop.earned import CounterProof, CounterVerdict, Refutation, RefutingTest, Tampering
from buildloop.frozen import Foreign, Frozen

__all__ = [
    "AgentOutcome",
    "AgentReply",
    "AgentRun",
    "Checkpoint",
    "CommandResult",
    "ContextSummary",
    "CounterProof",
    "CounterVerdict",
    "Frozen",
    "GateReport",
    "Iteration",
    "LadderStep",
    "Permissions",
    "Recovery",
    "Refutation",
    "RefutingTest",
    "Remedy",
    "Strategy",
    "Tampering",
    "Usage",
    "Verdict",
    "WorkspaceInfo",
]


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    COULD_NOT_RUN = "could_not_run"
    TIMED_OUT = "timed_out"


class Secret(Frozen):
    """Where a secret was about to be committed. Its value is nowhere."""

    file: Foreign
    line: int
    kind: str


class Checkpoint(Frozen):
    """The commit that keeps what one iteration left behind. `commit` equals `parent` when nothing changed."""

    parent: str
    commit: str
    tree: str
    files: tuple[Foreign, ...] = ()
    insertions: int = 0
    deletions: int = 0
    restored: tuple[Foreign, ...] = Field((), description="Protected files that were put back as they were.")
    refused: tuple[Secret, ...] = Field((), description="Secrets; their files are not in the commit.")
    unkept: tuple[Foreign, ...] = Field((), description="Files that git cannot keep; not in the commit.")

    @property
    def changed(self) -> bool:
        return self.commit != self.parent


class AgentRun(Frozen):
    """One agent call and the checkpoint of what it did."""

    reply: AgentReply
    checkpoint: Checkpoint
    heard: tuple[str, ...] = Field((), description="Ids of the hints of people that its prompt had.")


class CommandResult(Frozen):
    command: str
    verdict: Verdict
    exit_code: int | None
    seconds: float
    log: str = Field(description="Path of its log, relative to the run directory.")


class GateReport(Frozen):
    """What one gate run said about one tree. A red gate is a report, never an exception."""

    verdict: Verdict
    tree: str
    commands: tuple[CommandResult, ...]
    reading: LogReading = LogReading()
    attempts: int = 1
    explanation: str = ""
    tail: str = Field("", description="The end of the red log, for readers when no parser knows the tool.")
    excused: tuple[Finding, ...] = Field((), description="Failures of quarantined tests that did not count.")
    tampering: tuple[Tampering, ...] = Field(
        (), description="What was done to tests or the gate since the start."
    )
    counter_proof: CounterProof | None = Field(
        None, description="What the tests of the start say; only where they were changed."
    )
    refutation: Refutation | None = Field(None, description="What a second agent's test says (--falsify).")

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASSED

    @property
    def seconds(self) -> float:
        return sum(result.seconds for result in self.commands)

    @property
    def failing_count(self) -> int:
        """Failing tests, or findings where no test is named; a red gate without either counts as one."""
        if self.passed:
            return 0
        counted = self.reading.counts.failed if self.reading.counts else 0
        return max(len(self.reading.failing), counted) or len(self.reading.findings) or 1

    @property
    def in_words(self) -> str:
        if self.verdict is Verdict.FAILED:
            return f"{self.failing_count} failing"
        return {"passed": "green", "could_not_run": "could not run", "timed_out": "timed out"}[self.verdict]


class Strategy(Frozen):
    """What is done about a diagnosis. `args` are run options in the form a user would type them."""

    mode: str
    action: str
    args: tuple[str, ...] = ()
    description: str
    max_retries_override: int | None = None


class LadderStep(StrEnum):
    """What is done about a loop that stays stuck, in this order."""

    OTHER_APPROACH = "other_approach"
    DECOMPOSE = "decompose"
    NEXT_AGENT = "next_agent"
    ASK_A_PERSON = "ask_a_person"


class Recovery(Frozen):
    """A strategy carried out: what was done and what the next prompt must say about it (once)."""

    strategy: Strategy
    outcome: str
    helped: bool = Field(False, description="Whether the gate is worth running again without the agent.")
    note: str = ""
    back_to: str | None = Field(None, description="Commit the workspace was put back to.")
    environment: dict[str, str] = Field(default_factory=dict)
    step: LadderStep | None = Field(None, description="The step of the ladder that was taken.")
    rung: int | None = Field(None, description="From now on the agent at this place of the ladder is called.")


class ContextSummary(Frozen):
    """What a new session is told about the old ones; at most 2000 characters."""

    session: int
    iteration: int
    reason: str
    text: str = Field(max_length=2000)


class Remedy(Frozen):
    """One diagnosis and what was done about it; `fingerprint` says of which failure."""

    fingerprint: str
    diagnosis: Diagnosis
    recovery: Recovery
    error_lines: tuple[str, ...] = Field((), description="The findings' lines, enriched for the agent.")


class Iteration(Frozen):
    """Everything known about one finished iteration. Number 0 is the baseline: a gate without an agent.

    `reports` are all gate runs on its tree in order: the first, a probe, reruns, the final proof. The last one
    counts.
    """

    session: int
    number: int
    reports: tuple[GateReport, ...] = Field(min_length=1)
    agent: AgentRun | None = None
    remedies: tuple[Remedy, ...] = ()
    context_pct: int = 0
    installed_at: int = Field(0, description="How many reports were made before the last install.")

    @property
    def comparable(self) -> tuple[GateReport, ...]:
        """The reports of one tree in one environment: only these can show that a test is flaky."""
        return self.reports[self.installed_at :]

    @property
    def gate(self) -> GateReport:
        return self.reports[-1]

    @property
    def diagnosis(self) -> Diagnosis | None:
        return self.remedies[-1].diagnosis if self.remedies else None

    @property
    def recovery(self) -> Recovery | None:
        return self.remedies[-1].recovery if self.remedies else None

    @property
    def error_lines(self) -> tuple[str, ...]:
        return self.remedies[-1].error_lines if self.remedies else ()

    @property
    def head(self) -> str | None:
        return self.agent.checkpoint.commit if self.agent else None

    def with_report(self, report: GateReport) -> Iteration:
        return self.model_copy(update={"reports": (*self.reports, report)})

    def after_install(self) -> Iteration:
        return self.model_copy(update={"installed_at": len(self.reports)})

    def with_remedy(self, remedy: Remedy) -> Iteration:
        return self.model_copy(update={"remedies": (*self.remedies, remedy)})


class WorkspaceInfo(Frozen):
    """The run's own worktree. `workdir` is the folder in it that the request's repo path meant."""

    root: str
    workdir: str
    branch: str
    start_commit: str
    start_tree: str
    repo: str
    repo_id: str
    remote_id: str = Field("", description="What a shallow clone of the repository goes by.")
