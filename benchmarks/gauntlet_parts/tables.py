"""The figures of a gauntlet: totals per policy, and the tables for terminal, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.gauntlet_parts.outcome import GOOD, Mark, Outcome
from benchmarks.gauntlet_parts.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Total:
    """One policy over many scenarios. `solvable` and `hopeless` say of how many."""

    policy: str
    solved: int
    solvable: int
    right_stops: int
    hopeless: int
    false_green: int
    calls: int
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Gauntlet:
    scenarios: tuple[Scenario, ...]
    policies: tuple[str, ...]
    outcomes: Mapping[tuple[str, str], Outcome]
    skipped: Mapping[str, str]

    def of(self, scenario: Scenario, policy: str) -> Outcome:
        return self.outcomes[scenario.name, policy]

    @property
    def counted(self) -> tuple[Scenario, ...]:
        """What is asked of the loop today; the others need a part that is named in them."""
        return tuple(scenario for scenario in self.scenarios if scenario.requires is None)

    @property
    def apart(self) -> tuple[Scenario, ...]:
        return tuple(scenario for scenario in self.scenarios if scenario.requires is not None)

    def total(self, policy: str) -> Total:
        outcomes = [self.of(scenario, policy) for scenario in self.counted]
        marks = [outcome.mark for outcome in outcomes]
        solvable = sum(scenario.solvable for scenario in self.counted)
        return Total(
            policy,
            marks.count(Mark.SOLVED),
            solvable,
            marks.count(Mark.RIGHT_STOP),
            len(self.counted) - solvable,
            marks.count(Mark.FALSE_GREEN),
            sum(outcome.calls for outcome in outcomes),
            sum(outcome.tokens for outcome in outcomes),
            round(sum(outcome.seconds for outcome in outcomes), 1),
        )

    @property
    def totals(self) -> list[Total]:
        return [self.total(policy) for policy in self.policies]

    @property
    def call_ratio(self) -> float:
        """Agent calls of the last policy (buildloop) for each one of the first (plain retry)."""
        first, last = self.totals[0], self.totals[-1]
        return last.calls / first.calls if first.calls else 0.0


TOTAL_HEADINGS = ("policy", "solved", "right stop", "false green", "agent calls", "tokens", "wall time")


def total_rows(gauntlet: Gauntlet) -> list[tuple[str, ...]]:
    return [
        (
            total.policy,
            f"{total.solved} of {total.solvable}",
            f"{total.right_stops} of {total.hopeless}",
            str(total.false_green),
            str(total.calls),
            f"{total.tokens:,}",
            f"{total.seconds:.0f} s",
        )
        for total in gauntlet.totals
    ]


def scenario_rows(gauntlet: Gauntlet, scenarios: Sequence[Scenario]) -> list[tuple[str, ...]]:
    return [
        (
            scenario.name,
            scenario.expect,
            *(_cell(gauntlet.of(scenario, policy)) for policy in gauntlet.policies),
        )
        for scenario in scenarios
    ]


def _cell(outcome: Outcome) -> str:
    reason = f" ({outcome.reason})" if outcome.mark is Mark.WRONG_STOP else ""
    return f"{outcome.mark}{reason}, {outcome.calls}"


def as_markdown(gauntlet: Gauntlet) -> str:
    headings = ("scenario", "expected", *gauntlet.policies)
    parts = [
        "# Gauntlet",
        markdown_table(TOTAL_HEADINGS, total_rows(gauntlet)),
        f"Agent calls {gauntlet.policies[-1]} : {gauntlet.policies[0]} = {gauntlet.call_ratio:.2f}",
        "Each cell: what came of it, agent calls.",
        markdown_table(headings, scenario_rows(gauntlet, gauntlet.counted)),
    ]
    if gauntlet.apart:
        parts += ["Counted apart:", markdown_table(headings, scenario_rows(gauntlet, gauntlet.apart))]
    parts += [f"Skipped: {name} ({reason})" for name, reason in gauntlet.skipped.items()]
    return "\n\n".join(parts) + "\n"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def as_json(gauntlet: Gauntlet) -> dict[str, Any]:
    return {
        "totals": [asdict(total) for total in gauntlet.totals],
        "call_ratio": round(gauntlet.call_ratio, 3),
        "outcomes": [asdict(outcome) for outcome in gauntlet.outcomes.values()],
        "skipped": dict(gauntlet.skipped),
    }


def failed(gauntlet: Gauntlet, policy: str) -> list[Outcome]:
    return [o for s in gauntlet.counted if (o := gauntlet.of(s, policy)).mark not in GOOD]
