"""How a fleet ended: one line a goal, one summary for all."""

from __future__ import annotations

from enum import StrEnum

from buildloop.models import Frozen
from buildloop.request import BuildRequest
from buildloop.result import BuildResult, StopReason
from buildloop.text import one_line


class NotStarted(StrEnum):
    """Why a goal was not worked on at all."""

    BUDGET = "no_budget_left"
    WON = "another_way_won"


class Entry(Frozen):
    """One goal of a fleet. `outcome` is a stop reason, why it was not started, or `crashed`."""

    run_id: str
    goal: str
    repo: str
    agent: str
    outcome: str
    explanation: str = ""
    iterations: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    branch: str = ""

    @property
    def complete(self) -> bool:
        return self.outcome in set(StopReason) and StopReason(self.outcome).is_success


class FleetResult(Frozen):
    fleet_id: str
    entries: tuple[Entry, ...]
    winner: str | None = None
    raced: bool = False
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """All of them; in a race, one."""
        return self.winner is not None if self.raced else all(entry.complete for entry in self.entries)

    @property
    def cost_usd(self) -> float | None:
        known = [entry.cost_usd for entry in self.entries if entry.cost_usd is not None]
        return sum(known) if known else None

    @property
    def in_words(self) -> str:
        done = sum(entry.complete for entry in self.entries)
        if self.raced:
            return (
                f"won by {self.winner}"
                if self.winner
                else f"none of {len(self.entries)} ways reached the goal"
            )
        return f"{done} of {len(self.entries)} goals complete"


def entry_of(request: BuildRequest, result: BuildResult) -> Entry:
    return _entry(
        request,
        result.reason,
        explanation=result.explanation,
        iterations=result.iterations,
        cost_usd=result.usage.cost_usd,
        seconds=result.seconds,
        branch=result.branch,
    )


def entry_without_result(request: BuildRequest, outcome: str, explanation: str) -> Entry:
    return _entry(request, outcome, explanation=one_line(explanation, 300))


def _entry(request: BuildRequest, outcome: str, **more: object) -> Entry:
    agent = f"{request.agent}:{request.model}" if request.model else request.agent
    return Entry.model_validate(
        {
            "run_id": str(request.run_id),
            "goal": one_line(request.goal, 120) or f"issue #{request.issue}",
            "repo": request.repo,
            "agent": agent,
            "outcome": outcome,
            **more,
        }
    )


def summary(result: FleetResult) -> str:
    """Markdown: what came of every goal, those that need somebody first."""
    cost = f", ${result.cost_usd:.2f}" if result.cost_usd is not None else ""
    lines = [
        f"# Fleet {result.fleet_id}: {result.in_words}",
        "",
        f"{result.seconds:.0f} s{cost}",
        "",
        "| run | goal | outcome | iterations | cost | branch |",
        "|---|---|---|---|---|---|",
    ]
    for entry in sorted(result.entries, key=lambda each: each.complete):
        money = f"${entry.cost_usd:.2f}" if entry.cost_usd is not None else "–"
        branch = f"`{entry.branch}`" if entry.branch else "–"
        won = " 🏁" if entry.run_id == result.winner else ""
        cells = (
            f"{entry.run_id}{won}",
            _cell(entry.goal),
            _outcome(entry),
            str(entry.iterations),
            money,
            branch,
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _outcome(entry: Entry) -> str:
    words = entry.outcome.replace("_", " ")
    return f"**{words}**" if entry.complete else f"{words}: {_cell(one_line(entry.explanation, 160))}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
