"""Whether the next agent call may be made: checked before it, with a forecast from the calls so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from buildloop.ledger import Call
from buildloop.models import Usage
from buildloop.request import BuildRequest

# The dearest of the last few calls: prompts grow, and a budget is a promise.
FORECAST_FROM = 3


@dataclass(frozen=True, slots=True)
class Kind:
    """One budget: its flag, what a call used of it (None: not reported), and how an amount is written."""

    flag: str
    used: Callable[[Call], float | None]
    written: Callable[[float], str]


USD = Kind("--budget-usd", lambda call: call.usage.cost_usd, lambda amount: f"${amount:.2f}")
TOKENS = Kind("--budget-tokens", lambda call: call.tokens, lambda amount: f"{amount:,.0f} tokens")
MINUTES = Kind("--budget-minutes", lambda call: call.seconds / 60, lambda amount: f"{amount:.1f} minutes")


def budget_refusal(request: BuildRequest, calls: Sequence[Call], worked_seconds: float) -> str | None:
    """Why the next call must not be made, or None if it may."""
    limits = ((USD, request.budget_usd), (TOKENS, request.budget_tokens))
    refusals = [_refusal(kind, float(limit), calls, None) for kind, limit in limits if limit is not None]
    if request.budget_minutes is not None:
        refusals.append(_refusal(MINUTES, request.budget_minutes, calls, worked_seconds / 60))
    return next((refusal for refusal in refusals if refusal), None)


def dollars_left(request: BuildRequest, spent: Usage) -> float | None:
    return None if request.budget_usd is None else request.budget_usd - (spent.cost_usd or 0.0)


def time_limit(request: BuildRequest, worked_seconds: float) -> float:
    """Seconds the next agent call may take."""
    if request.budget_minutes is None:
        return request.agent_timeout
    return max(1.0, min(request.agent_timeout, request.budget_minutes * 60 - worked_seconds))


def _refusal(kind: Kind, limit: float, calls: Sequence[Call], measured: float | None) -> str | None:
    paid = [call for call in calls if call.paid or kind.used(call)]
    known = [used for call in paid if (used := kind.used(call)) is not None]
    if not known and any(not call.interrupted for call in paid):
        return (
            f"The agent does not report what {kind.flag} limits, so the budget of {kind.written(limit)} cannot be "
            "kept; use another budget, or name the model so that its price is known."
        )
    dearest = max(known, default=0.0)
    # A call that was cut off did cost something, but nobody knows what: the dearest known one stands in.
    spent = measured if measured is not None else sum(known) + dearest * (len(paid) - len(known))
    forecast = max(known[-FORECAST_FROM:], default=0.0)
    if spent < limit and spent + forecast <= limit:
        return None
    calls_made = f"{len(paid)} call{'' if len(paid) == 1 else 's'}"
    return (
        f"The next call would exceed the budget of {kind.written(limit)}: {kind.written(spent)} spent in "
        f"{calls_made}, and about {kind.written(forecast)} expected for the next."
    )
