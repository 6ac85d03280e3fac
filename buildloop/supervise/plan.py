"""What happens next with a request: one pure function. Nothing waits here; a retry is planned for later."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from buildloop.models import Strategy
from buildloop.recovery.strategies import strategy_for
from buildloop.request import RESTART_CAP, BuildRequest
from buildloop.supervise.classify import MOST_RETRIES
from buildloop.supervise.model import Attempt, BroadClass, Case

FIRST_DELAY = timedelta(seconds=30)
FIRST_DELAY_TRANSIENT = timedelta(seconds=300)
LONGEST_DELAY = timedelta(hours=1)
SMALLEST_USD = 0.01


@dataclass(frozen=True, slots=True)
class Policy:
    """`budget_usd` is for one request with all its attempts; at most `starts` runs begin within `window`."""

    budget_usd: float | None = None
    starts: int = 20
    window: timedelta = timedelta(hours=1)
    first_delay: timedelta = FIRST_DELAY
    first_delay_transient: timedelta = FIRST_DELAY_TRANSIENT


@dataclass(frozen=True, slots=True)
class GiveUp:
    why: str


@dataclass(frozen=True, slots=True)
class Later:
    """Nothing now: too many runs were started lately."""

    why: str


def next_attempt(case: Case, policy: Policy, now: datetime, recent_starts: int) -> Attempt | GiveUp | Later:
    """The next run of an open case whose last one, if any, has ended without success."""
    if (refusal := _refusal(case)) is not None:
        return GiveUp(refusal)
    left = None if policy.budget_usd is None else policy.budget_usd - case.spent_usd
    if left is not None and left < SMALLEST_USD:
        return GiveUp(f"its budget of ${policy.budget_usd:.2f} is used up (${case.spent_usd:.2f})")
    if recent_starts >= policy.starts:
        return Later(
            f"{recent_starts} runs were started within {policy.window}; the limit is {policy.starts}"
        )
    number = len(case.attempts) + 1
    base = BuildRequest.model_validate({**case.fields, "run_id": _run_id(case, number)})
    request = limited(with_strategy(base, _strategy(case), case.retries), left)
    return Attempt(
        number=number,
        key=f"buildloop/supervise/{case.id}/{number}",
        request=request,
        planned_at=now,
        start_at=now + _delay(case, policy),
    )


def with_strategy(request: BuildRequest, strategy: Strategy | None, retries: int) -> BuildRequest:
    """The strategy's arguments as limits of this one run. They come from the request as it was asked, so that
    nothing adds up over the attempts, and a limit has one value: the stricter one."""
    given = dict(zip(strategy.args[::2], strategy.args[1::2], strict=True)) if strategy else {}
    changes: dict[str, int] = {}
    if "--max-iterations" in given:
        changes["max_iterations"] = min(request.max_iterations, int(given["--max-iterations"]))
    if (more := given.get("--max-restarts")) and request.max_restarts:
        changes["max_restarts"] = min(RESTART_CAP, request.max_restarts + int(more) + retries)
    return request.model_copy(update=changes)


def limited(request: BuildRequest, left: float | None) -> BuildRequest:
    own = request.budget_usd
    allowed = own if left is None else left if own is None else min(own, left)
    return request.model_copy(update={"budget_usd": allowed})


def most_retries(last: Attempt) -> int:
    """The class decides; a strategy may allow more for its mode (flaky tests)."""
    allowed = MOST_RETRIES[last.broad or BroadClass.UNKNOWN]
    override = strategy_for(last.granular).max_retries_override if last.granular else None
    return max(allowed, override or 0)


def _refusal(case: Case) -> str | None:
    last = case.last
    if last is None:
        return None
    most = most_retries(last)
    if most == 0:
        return f"{last.broad}: another run cannot help"
    if case.retries >= most:
        return f"{last.broad}: all {most} retries were used"
    return None


def _strategy(case: Case) -> Strategy | None:
    return strategy_for(case.last.granular) if case.last and case.last.granular else None


def _run_id(case: Case, number: int) -> str:
    """What was interrupted is continued; what failed is begun anew."""
    last = case.last
    if last is not None and last.broad is BroadClass.TRANSIENT:
        return str(last.request.run_id)
    safe = re.sub(r"[^a-z0-9._-]+", "-", case.id.lower()).strip("-._")[:48] or "request"
    mark = "" if safe == case.id else f"-{sha256(case.id.encode()).hexdigest()[:4]}"
    return f"{safe}{mark}-{number}"


def _delay(case: Case, policy: Policy) -> timedelta:
    if case.last is None:
        return timedelta()
    transient = case.last.broad is BroadClass.TRANSIENT
    first = policy.first_delay_transient if transient else policy.first_delay
    return min(LONGEST_DELAY, first * (1 << case.retries))
