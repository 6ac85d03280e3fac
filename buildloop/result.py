"""How a run ends: the reason, the exit code, and the result for a person, a script and CI alike."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from buildloop.models import Frozen, Usage


class StopReason(StrEnum):
    COMPLETE = "complete"
    ACCEPTED = "accepted"
    MAX_ITERATIONS = "max_iterations"
    MAX_RESTARTS = "max_restarts"
    STUCK = "stuck"
    BUDGET = "budget"
    GATE_COULD_NOT_RUN = "gate_could_not_run"
    AGENT_REFUSED = "agent_refused"
    AGENT_UNAVAILABLE = "agent_unavailable"
    CANCELLED = "cancelled"

    @property
    def is_success(self) -> bool:
        """There is a branch to merge: the gate proved it, or a person took it as it is. Only the first is proven."""
        return self in (StopReason.COMPLETE, StopReason.ACCEPTED)


# What Prefect calls the runs that ended well.
GOOD_ENDS = {"Completed": StopReason.COMPLETE, "Accepted": StopReason.ACCEPTED}

EXIT_CODES: dict[StopReason, int] = {
    StopReason.COMPLETE: 0,
    StopReason.ACCEPTED: 0,
    StopReason.MAX_ITERATIONS: 1,
    StopReason.MAX_RESTARTS: 1,
    StopReason.STUCK: 1,
    StopReason.BUDGET: 1,
    StopReason.GATE_COULD_NOT_RUN: 3,
    StopReason.AGENT_REFUSED: 4,
    StopReason.AGENT_UNAVAILABLE: 1,
    StopReason.CANCELLED: 130,
}


class BuildResult(Frozen):
    """How a run ended, for a person, a script and CI alike."""

    run_id: str
    reason: StopReason
    explanation: str
    next_step: str
    iterations: int
    sessions: int
    branch: str
    commit: str
    tree: str
    failing: tuple[str, ...] = ()
    handed_back: int | None = Field(
        None,
        description="The iteration whose tree the branch holds, if that is not the last one; 0: the start.",
    )
    since: dict[str, int] = Field(
        {}, description="Since which iteration each failure is there; 0: the start."
    )
    question: str = Field("", description="What a person is asked, ready to be answered (Markdown).")
    usage: Usage = Usage()
    seconds: float = 0.0
    run_dir: str

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.reason]

    def as_json(self) -> dict[str, Any]:
        return {**self.model_dump(mode="json"), "exit_code": self.exit_code}
