"""Context exhaustion: the window as measured, or the agent's own error. Never the word in a test log."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.diagnosis.evidence import Evidence
from buildloop.diagnosis.model import Attempt, FailureMode, LogReading, Signal, SignalKind
from buildloop.diagnosis.signals import scan

SAID_BY_AGENT, MEASURED = 0.97, 0.9
# So little room is left that the next prompt cannot fit, whatever the last one achieved.
FULL = 95
OVERFLOW_STATUSES = frozenset(
    {
        "overflow",
        "context_overflow",
        "context_exhausted",
        "context_exhaustion",
        "exhausted",
        "prompt_too_long",
    }
)


def detect_context_exhaustion(
    history: Sequence[Attempt], *, context_window: int | None = None, context_threshold: int = 70
) -> Evidence | None:
    last = history[-1]
    return _said_by_agent(last) or _measured(last, context_window, context_threshold)


def _said_by_agent(last: Attempt) -> Evidence | None:
    if last.agent_status in OVERFLOW_STATUSES:
        return Evidence(
            FailureMode.CONTEXT_EXHAUSTION,
            SAID_BY_AGENT,
            (f"the agent ended with status {last.agent_status}",),
        )
    signals = (*scan(last.agent_output.splitlines()).signals, *_agent_signals(last.reading))
    said = [signal.line for signal in signals if signal.kind is SignalKind.CONTEXT_OVERFLOW]
    return Evidence(FailureMode.CONTEXT_EXHAUSTION, SAID_BY_AGENT, tuple(said[:2])) if said else None


def _agent_signals(reading: LogReading) -> tuple[Signal, ...]:
    """Where tests fail, a provider's error may be what they are about; the words of a CLI are its own."""
    tested = bool(reading.failing) or (reading.counts is not None and reading.counts.failed > 0)
    return tuple(signal for signal in reading.signals if signal.ecosystem == "agent" or not tested)


def fill_of(attempt: Attempt, window: int | None) -> float:
    """How full the window is, in percent; 0 where nobody measured it."""
    return 100 * (attempt.context_tokens or 0) / window if window else 0.0


def _measured(last: Attempt, window: int | None, threshold: int) -> Evidence | None:
    """A well filled window explains an attempt that changed nothing; a full one explains any."""
    fill = fill_of(last, window)
    if fill <= 0 or fill < threshold or (fill < max(FULL, threshold) and last.changed is not False):
        return None
    line = f"the agent's context holds {last.context_tokens} of {window} tokens ({fill:.0f}%)"
    idle = ("the agent changed nothing",) if last.changed is False else ()
    return Evidence(FailureMode.CONTEXT_EXHAUSTION, MEASURED, (line, *idle))
