"""What follows from a person's answer: more of what was used up. What was granted once holds for the whole run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from buildloop.models import Frozen
from buildloop.people.answer import Answer
from buildloop.result import StopReason
from buildloop.state import LoopState

GRANTED_FILE = "granted.json"

N = TypeVar("N", int, float)


class Granted(Frozen):
    """Limits that people have raised, as totals: applied again after a crash, they add nothing up."""

    max_iterations: int = 0
    max_restarts: int = 0
    budget_usd: float | None = None
    budget_minutes: float | None = None
    budget_tokens: int | None = None


def after(state: LoopState, reason: StopReason, answer: Answer) -> LoopState:
    """Where the run stands when it goes on: more of what was used up, and the ladder not held against it again.

    The cap on restarts is for the loop's own decisions; a person who has looked at the run may go beyond it.
    """
    request = state.request
    raised = {
        "budget_usd": _more(request.budget_usd, answer.more_usd),
        "budget_minutes": _more(request.budget_minutes, answer.more_minutes),
        "budget_tokens": _more(request.budget_tokens, answer.more_tokens),
    }
    restarts = int(request.max_restarts > 0 or reason is StopReason.MAX_RESTARTS)
    return replace(
        state,
        request=request.model_copy(update=raised),
        max_iterations=max(state.max_iterations, state.number + max(1, answer.more_iterations)),
        max_restarts=state.max_restarts + restarts,
        answered_at=state.number,
    )


def granted_in(state: LoopState) -> Granted:
    return Granted(
        max_iterations=state.max_iterations,
        max_restarts=state.max_restarts,
        budget_usd=state.request.budget_usd,
        budget_minutes=state.request.budget_minutes,
        budget_tokens=state.request.budget_tokens,
    )


def with_granted(state: LoopState, granted: Granted) -> LoopState:
    """Limits that are at least what was granted; one that was never set stays unset."""
    request = state.request
    raised = {
        "budget_usd": _at_least(request.budget_usd, granted.budget_usd),
        "budget_minutes": _at_least(request.budget_minutes, granted.budget_minutes),
        "budget_tokens": _at_least(request.budget_tokens, granted.budget_tokens),
    }
    return replace(
        state,
        request=request.model_copy(update=raised),
        max_iterations=max(state.max_iterations, granted.max_iterations),
        max_restarts=max(state.max_restarts, granted.max_restarts),
        granted_iterations=granted.max_iterations,
    )


def read_granted(run_dir: Path) -> Granted:
    """A damaged file is none: the question it came from is asked again."""
    try:
        return Granted.model_validate_json((run_dir / GRANTED_FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return Granted()


def _more(limit: N | None, more: N) -> N | None:
    return None if limit is None else limit + more


def _at_least(limit: N | None, granted: N | None) -> N | None:
    return limit if limit is None or granted is None else max(limit, granted)
