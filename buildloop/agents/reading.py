"""What an adapter reads from one call of its CLI, before times, limits and prices are added."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from buildloop.agents.failures import failure_outcome
from buildloop.agents.output import last_line, tail
from buildloop.models import AgentOutcome, Usage

FIRST_SIGNAL = 128
UNKNOWN = Usage()


@dataclass(frozen=True, slots=True)
class Output:
    """Where a finished call left its traces. `home` is the folder the CLI took for its own state.

    `started` is the time of day at which it was started, `resumed` the session it went on with.
    """

    stdout: Path
    stderr: Path
    exit_code: int
    home: Path
    workdir: Path
    started: float = 0.0
    resumed: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """`finished` is False when there is no word of an end: whoever stopped the program knows why, it does not."""

    outcome: AgentOutcome
    error: str = ""
    text: str = ""
    session_id: str | None = None
    model: str | None = None
    turns: int | None = None
    usage: Usage = UNKNOWN
    context_window: int | None = None
    denials: tuple[str, ...] = ()
    reset_at: datetime | None = None
    finished: bool = True


def unique(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def ended_without_a_word(output: Output, *, started: bool) -> tuple[AgentOutcome, str]:
    """No closing event. A program that ended by itself before it began (bad option, no log-in) will do so again."""
    said = last_line(tail(output.stderr)) or _last_plain_line(output) or "no message"
    if output.exit_code >= FIRST_SIGNAL:
        return AgentOutcome.CRASHED, f"it was ended by signal {output.exit_code - FIRST_SIGNAL}: {said}"
    if output.exit_code == 0:
        return AgentOutcome.CRASHED, f"it ended with exit code 0 and no result: {said}"
    worded = failure_outcome(said)
    if started:
        return worded, f"it ended with exit code {output.exit_code} and no result: {said}"
    outcome = AgentOutcome.REFUSED if worded is AgentOutcome.CRASHED else worded
    return outcome, f"it did not start (exit code {output.exit_code}): {said}"


def _last_plain_line(output: Output) -> str:
    """Events are for us, not for people."""
    said = last_line(tail(output.stdout))
    return "" if said.startswith("{") else said
