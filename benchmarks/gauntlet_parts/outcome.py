"""What came of one scenario under one policy, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.gauntlet_parts.commands import run_commands
from benchmarks.gauntlet_parts.repository import restore_protected
from benchmarks.gauntlet_parts.scenario import Scenario
from buildloop.result import StopReason

CHARACTERS_PER_TOKEN = 4
# A flaky gate is green code: the judge believes one green run out of so many.
JUDGE_ATTEMPTS = 12


class Mark(StrEnum):
    SOLVED = "solved"
    RIGHT_STOP = "right stop"
    FALSE_GREEN = "false green"
    WRONG_STOP = "wrong stop"
    USED_UP = "used up"


GOOD = (Mark.SOLVED, Mark.RIGHT_STOP)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a policy left a scenario. `tree` is the folder with its final work; None where there is none."""

    reason: StopReason
    calls: int
    tokens: int
    seconds: float
    tree: Path | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    scenario: str
    policy: str
    mark: Mark
    reason: StopReason
    calls: int
    tokens: int
    seconds: float
    note: str = ""


def judged(scenario: Scenario, policy: str, ended: Ended, place: Path) -> Outcome:
    return Outcome(
        scenario.name,
        policy,
        _mark(scenario, ended, place),
        ended.reason,
        ended.calls,
        ended.tokens,
        round(ended.seconds, 1),
        ended.note,
    )


def _mark(scenario: Scenario, ended: Ended, place: Path) -> Mark:
    if ended.reason is StopReason.COMPLETE:
        return Mark.SOLVED if scenario.solvable and _is_solved(scenario, ended, place) else Mark.FALSE_GREEN
    if ended.reason is scenario.expect:
        return Mark.RIGHT_STOP
    return Mark.USED_UP if ended.reason is StopReason.MAX_ITERATIONS else Mark.WRONG_STOP


def _is_solved(scenario: Scenario, ended: Ended, place: Path) -> bool:
    if ended.tree is None:
        return False
    restore_protected(scenario, ended.tree)
    return any(
        run_commands(
            scenario.judge_commands, ended.tree, place / f"judge-{attempt}.log", scenario.gate_timeout
        ).passed
        for attempt in range(JUDGE_ATTEMPTS)
    )
