"""What the supervisor knows about a request: a value that is written down after every step."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from buildloop.diagnosis.model import FailureMode
from buildloop.models import Frozen
from buildloop.request import BuildRequest
from buildloop.result import StopReason


class BroadClass(StrEnum):
    """First level of the diagnosis: who or what has to act."""

    AUTH = "auth_error"
    TRANSIENT = "api_error"
    INVALID = "invalid_issue"
    CONTEXT = "context_exhaustion"
    BUILD = "build_failure"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Ending(Frozen):
    """How a run ended, in structured words only: Prefect's state, our stop reason, the last diagnosis."""

    state: str = Field(description="Name of the flow run's final state.")
    reason: StopReason | None = None
    mode: FailureMode | None = None
    explanation: str = ""
    iterations: int = 0
    cost_usd: float | None = None
    branch: str = ""
    run_dir: str = ""

    @property
    def complete(self) -> bool:
        return self.reason is not None and self.reason.is_success


class Attempt(Frozen):
    """One run for a request. It is written down before it is started, so `key` can never start two."""

    number: int
    key: str
    request: BuildRequest
    planned_at: datetime
    start_at: datetime
    handle: str | None = Field(None, description="What the launcher calls it; None: perhaps not started yet.")
    ending: Ending | None = None
    broad: BroadClass | None = None
    granular: FailureMode | None = None
    action: str | None = None


class Status(StrEnum):
    OPEN = "open"
    DONE = "done"
    GIVEN_UP = "given_up"
    INVALID = "invalid"


class Case(Frozen):
    """One request and everything that was done about it."""

    id: str
    title: str
    digest: str = Field(
        description="Of what was asked; a request that was refused counts anew when it changes."
    )
    fields: dict[str, Any] = Field(default_factory=dict)
    status: Status = Status.OPEN
    why: str = ""
    attempts: tuple[Attempt, ...] = ()
    said: tuple[str, ...] = Field((), description="Keys of the comments that were made.")

    @property
    def last(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def retries(self) -> int:
        return max(0, len(self.attempts) - 1)

    @property
    def spent_usd(self) -> float:
        """A run that reported no cost is taken to have cost what it was allowed to."""
        ended = [each for each in self.attempts if each.ending and each.ending.iterations]
        return sum(
            each.ending.cost_usd
            if each.ending and each.ending.cost_usd is not None
            else each.request.budget_usd or 0
            for each in ended
        )

    def with_last(self, **changes: object) -> Case:
        assert self.last is not None
        return self.model_copy(
            update={"attempts": (*self.attempts[:-1], self.last.model_copy(update=changes))}
        )
