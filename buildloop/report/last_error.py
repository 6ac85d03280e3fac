"""The failure a run ended with, taken from what is known about the run."""

from __future__ import annotations

from buildloop.models import Iteration
from buildloop.report.error_context import (
    AGENT_STAGE,
    MEMORY_OFF,
    NONE_SEEN,
    NOT_ASKED,
    ErrorContext,
    unavailable,
)
from buildloop.report.facts import RunFacts
from buildloop.result import StopReason

STAGES: dict[StopReason, str] = {
    StopReason.AGENT_REFUSED: AGENT_STAGE,
    StopReason.AGENT_UNAVAILABLE: AGENT_STAGE,
}


def stage_of(facts: RunFacts) -> str:
    """Where it went wrong: at the agent, or at the gate that judges its work."""
    return STAGES.get(facts.result.reason, "gate") if facts.result else "gate"


def error_context(facts: RunFacts) -> ErrorContext:
    last = facts.iterations[-1] if facts.iterations else None
    judged = last is not None and stage_of(facts) != AGENT_STAGE
    return ErrorContext(
        error=_error(facts, last),
        stage=stage_of(facts),
        iteration=last.number if last else 0,
        goal=facts.request.goal,
        issue=facts.request.issue,
        diagnosis=last.diagnosis if last and judged else None,
        similar=facts.advice.similar,
        actions=facts.advice.actions if judged else (),
        note=_note(facts),
    )


def _note(facts: RunFacts) -> str:
    """Why nothing similar is known. Who asked memory has got suggestions, whatever it knew."""
    if not facts.advice.actions:
        return NOT_ASKED
    if facts.advice.memory_off:
        return MEMORY_OFF
    failed = next((one for one in facts.degraded if one.startswith("memory: ")), None)
    return unavailable(failed.removeprefix("memory: ")) if failed else NONE_SEEN


def _error(facts: RunFacts, last: Iteration | None) -> str:
    """The lines that state the error; without any, why the run stopped."""
    stopped = facts.result.explanation if facts.result else ""
    if last is None or stage_of(facts) == AGENT_STAGE:
        return stopped
    lines = last.error_lines or last.gate.reading.error_lines
    return "\n".join(lines) or last.gate.tail or last.gate.explanation or stopped
