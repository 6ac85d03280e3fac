"""How a run ended, in a sentence, and what a person can do next."""

from __future__ import annotations

from buildloop.result import BuildResult, StopReason

NEXT_STEPS: dict[StopReason, str] = {
    StopReason.COMPLETE: "review it with 'git diff HEAD...{branch}' and merge it with 'git merge {branch}'",
    StopReason.ACCEPTED: "review it with 'git diff HEAD...{branch}' and merge it with 'git merge {branch}'",
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


def handed_back_text(result: BuildResult) -> str:
    """What the branch holds when that is not the last iteration; empty otherwise."""
    if result.handed_back is None:
        return ""
    which = f"iteration {result.handed_back}" if result.handed_back else "the start: no iteration was better"
    return f"The branch holds the best tree, that of {which}."
