"""Every agent call of a run, paid or failed: one line a call in `ledger.jsonl`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from buildloop.files import append_line
from buildloop.models import AgentOutcome, AgentReply, Frozen, Usage

LEDGER_FILE = "ledger.jsonl"

# These ended before a model worked for us; an unknown cost of theirs is no cost.
UNPAID = frozenset({AgentOutcome.TRANSIENT, AgentOutcome.REFUSED})


class Call(Frozen):
    """One agent call. `agent` is the rung of the ladder as the user wrote it, e.g. `claude:opus`."""

    session: int
    iteration: int
    agent: str
    ended: datetime
    outcome: AgentOutcome
    seconds: float
    usage: Usage
    error: str = ""

    @property
    def tokens(self) -> int | None:
        known = (self.usage.input_tokens, self.usage.output_tokens)
        return None if known == (None, None) else self.usage.all_tokens

    @property
    def paid(self) -> bool:
        return self.outcome not in UNPAID


@dataclass(frozen=True, slots=True)
class Ledger:
    path: Path

    def add(self, call: Call) -> None:
        append_line(self.path, call.model_dump_json())

    def calls(self) -> list[Call]:
        """In order; a line that a crash tore is passed over."""
        if not self.path.exists():
            return []
        return [call for line in self.path.read_bytes().splitlines() if (call := _read(line))]

    def has_answer(self, session: int, iteration: int) -> bool:
        return any(c.session == session and c.iteration == iteration and c.paid for c in self.calls())


def call_of(session: int, iteration: int, reply: AgentReply, ended: datetime) -> Call:
    return Call(
        session=session,
        iteration=iteration,
        agent=reply.agent,
        ended=ended,
        outcome=reply.outcome,
        seconds=round(reply.seconds, 3),
        usage=reply.usage,
        error=reply.error,
    )


def spent(calls: Sequence[Call]) -> Usage:
    """What all calls together used; a figure that no call reported stays unknown."""
    return add_up([call.usage for call in calls])


def add_up(usages: Sequence[Usage]) -> Usage:
    """The sum of what was reported; a figure nobody reported stays unknown."""

    def total(name: str) -> float | None:
        values = [getattr(usage, name) for usage in usages if getattr(usage, name) is not None]
        return sum(values) if values else None

    summed = {name: total(name) for name in Usage.model_fields if name != "context_tokens"}
    last = usages[-1].context_tokens if usages else None
    return Usage.model_validate({**summed, "context_tokens": last})


def _read(line: bytes) -> Call | None:
    try:
        return Call.model_validate_json(line)
    except ValidationError:
        return None
