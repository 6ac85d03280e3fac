"""Recoveries that need no deed: the next prompt, session or agent is the recovery."""

from __future__ import annotations

from buildloop.models import LadderStep, Recovery, Strategy
from buildloop.request import BuildRequest

PLAIN = frozenset({"standard_retry", "restart_compressed"})


def plain_recovery(
    request: BuildRequest, strategy: Strategy, step: LadderStep | None, rung: int | None
) -> Recovery:
    if strategy.action == "restart_compressed":
        return Recovery(strategy=strategy, outcome="a new session follows")
    if rung is None:
        return Recovery(strategy=strategy, outcome="the agent gets the findings")
    stronger = request.agents[rung]
    outcome = f"the findings go to {stronger}, because the same failure stayed"
    return Recovery(strategy=strategy, outcome=outcome, step=step, rung=rung)
