"""The nouns of memory: what is remembered, what is found again, what is suggested and how that went."""

from __future__ import annotations

from pydantic import Field

from buildloop.diagnosis.model import ErrorClass, FailureMode
from buildloop.models import Frozen


class Moment(Frozen):
    """One iteration of one run: the key under which a fact is remembered once, however often it is told."""

    run: str
    session: int = 1
    iteration: int = 0


class Failure(Frozen):
    """One finding as memory keeps it. `message` is normalised and masked."""

    fingerprint: str
    error_class: ErrorClass = ErrorClass.UNKNOWN
    mode: FailureMode = FailureMode.CODE_ERROR
    test: str = ""
    message: str


class Record(Frozen):
    """How often something was tried and how often the failure went green afterwards."""

    worked: int = 0
    tried: int = 0

    @property
    def estimate(self) -> float:
        """The chance that it works: the mean of a Beta(1, 1) prior with this record. Nothing tried is 0.5, so that
        what is new gets its chance, and one lucky hit is not certainty."""
        return (self.worked + 1) / (self.tried + 2)

    @property
    def in_words(self) -> str:
        return f"worked {self.worked} of {self.tried}"

    def without(self, part: Record) -> Record:
        tried = max(0, self.tried - part.tried)
        return Record(worked=min(tried, max(0, self.worked - part.worked)), tried=tried)


class Change(Frozen):
    """What made a failure go green: the change as a short diff, and what the agent said about it."""

    summary: str
    approach: str = ""
    files: tuple[str, ...] = ()
    commit: str = ""


class Fix(Frozen):
    """A confirmed fix with its record; the run that found it counts as its first success."""

    id: str
    change: Change
    run: str
    confirmed_at: str
    record: Record
    faded: bool = Field(False, description="Shown often enough, and no better than doing without it.")


class SimilarFailure(Frozen):
    """A failure seen before. `relevance` is 1 for the same fingerprint, else how much of the query it shares."""

    fingerprint: str
    error_class: ErrorClass
    mode: FailureMode
    test: str
    message: str
    repo: str
    exact: bool
    relevance: float
    seen: int = Field(description="In how many iterations it was red.")
    first_seen: str
    last_seen: str
    first_run: str
    last_run: str
    fixes: tuple[Fix, ...] = ()


class Action(Frozen):
    """One thing to do. `key` is what its record is kept under: a fix's id, or the name of a default."""

    key: str
    text: str
    fix: Fix | None = None


class Suggestion(Frozen):
    """The actions shown for one failure in one iteration. `resolved` is None while the outcome is open, then
    "true" (the failure went green) or "false" (it stayed red)."""

    id: str
    category: ErrorClass
    stage: str
    actions: tuple[str, ...]
    resolved: str | None = None
    timestamp: str
    fingerprint: str
    run: str
    session: int = 1
    iteration: int = 0
    issue: int | None = None
    keys: tuple[str, ...] = ()
    repo: str = ""


class Recalled(Frozen):
    """What memory has to say about one failure of the last gate."""

    headline: str
    similar: tuple[SimilarFailure, ...]
    actions: tuple[Action, ...]
    suggestion: Suggestion


class History(Frozen):
    """What memory gives to one prompt; empty where it knows nothing or cannot be asked."""

    recalled: tuple[Recalled, ...] = ()

    @property
    def known_fixes(self) -> int:
        return sum(1 for one in self.recalled for action in one.actions if action.fix)
