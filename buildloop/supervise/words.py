"""What the supervisor tells people: short, with what was tried and what they can do."""

from __future__ import annotations

from buildloop.recovery.strategies import strategy_for
from buildloop.supervise.model import Attempt, BroadClass, Case, Status
from buildloop.text import one_line

ADVICE = {
    BroadClass.AUTH: "Mend the agent's credentials on the workers, then ask again.",
    BroadClass.TRANSIENT: "The agent or the machines did not answer for a long time; ask again later.",
    BroadClass.INVALID: "Mend the request: repository, gate command and settings must work on a worker.",
    BroadClass.CONTEXT: "Split the goal: it does not fit into the agent's context.",
    BroadClass.BUILD: "Read the report of the last run and give a more precise goal.",
    BroadClass.CANCELLED: "A person cancelled it; ask again if it shall go on.",
    BroadClass.UNKNOWN: "Read the report of the last run.",
}


def retry_note(last: Attempt, following: Attempt) -> str:
    mode = f", {last.granular}" if last.granular else ""
    plan = strategy_for(last.granular).description if last.granular else "Try again"
    when = f"{following.start_at:%Y-%m-%d %H:%M:%S} UTC"
    why = one_line(last.ending.explanation if last.ending else "", 300)
    failed = f"Run {last.request.run_id} failed ({last.broad}{mode}): {why}"
    return f"{failed}\n\nNext: {plan}; run {following.number} at {when}."


def final_report(case: Case) -> str:
    lines = [
        _headline(case),
        "",
        "| run | ended | class | mode | iterations | branch |",
        "|---|---|---|---|---|---|",
    ]
    for each in case.attempts:
        if (ending := each.ending) is None:
            continue
        branch = f"`{ending.branch}`" if ending.branch else "–"
        cells = (each.request.run_id, ending.reason or ending.state, each.broad or "–", each.granular or "–")
        lines.append("| " + " | ".join([*map(str, cells), str(ending.iterations), branch]) + " |")
    last = case.last
    if last is not None and last.ending is not None:
        lines += ["", one_line(last.ending.explanation, 500)]
        if case.status is Status.GIVEN_UP and last.broad:
            lines += ["", ADVICE[last.broad], f"Report: `buildloop report {last.request.run_id}`."]
    return "\n".join(lines)


def _headline(case: Case) -> str:
    if case.status is Status.DONE and case.last and case.last.ending:
        return f"Done: the gate is green on branch `{case.last.ending.branch}`."
    return f"Given up after {len(case.attempts)} run{'' if len(case.attempts) == 1 else 's'}: {case.why}."
