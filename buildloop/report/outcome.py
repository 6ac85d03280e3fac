"""How a run ended, in a sentence, and what a person can do next."""

from __future__ import annotations

from buildloop.result import StopReason

NEXT_STEPS: dict[StopReason, str] = {
    StopReason.COMPLETE: "review it with 'git diff HEAD...{branch}' and merge it with 'git merge {branch}'",
    StopReason.MAX_ITERATIONS: "read 'buildloop report {run}', then 'buildloop resume {run} --max-iterations N'",
    StopReason.MAX_RESTARTS: "read 'buildloop report {run}', then 'buildloop resume {run} --max-restarts N'",
    StopReason.BUDGET: "read 'buildloop report {run}', then 'buildloop resume {run}' with a higher budget",
    StopReason.STUCK: "read 'buildloop report {run}' and give a more precise goal in a new run",
    StopReason.GATE_COULD_NOT_RUN: "make the gate command work on this machine, then 'buildloop resume {run}'",
    StopReason.AGENT_REFUSED: "mend the agent's credentials or permissions, then 'buildloop resume {run}'",
    StopReason.AGENT_UNAVAILABLE: "wait until the agent answers again, then 'buildloop resume {run}'",
    StopReason.CANCELLED: "continue it with 'buildloop resume {run}'",
}


def next_step(reason: StopReason, run_id: str, branch: str) -> str:
    return NEXT_STEPS[reason].format(run=run_id, branch=branch)
