"""Figures in words, the same in every report."""

from __future__ import annotations

from dataclasses import dataclass

from buildloop.diagnosis.model import FailureMode
from buildloop.models import Usage
from buildloop.progress import Effect


@dataclass(frozen=True, slots=True)
class ModeName:
    """How a failure mode is called where there is room, where there is little, and where there is none."""

    name: str
    short: str
    letter: str


MODES: dict[FailureMode, ModeName] = {
    FailureMode.CODE_ERROR: ModeName("code error", "code", "E"),
    FailureMode.DEPENDENCY_ISSUE: ModeName("dependency issue", "deps", "D"),
    FailureMode.TEST_FLAKINESS: ModeName("test flakiness", "flaky", "F"),
    FailureMode.INFINITE_LOOP: ModeName("infinite loop", "loop", "L"),
    FailureMode.CONTEXT_EXHAUSTION: ModeName("context exhaustion", "context", "C"),
}


EFFECTS: dict[Effect, str] = {
    Effect.SOLVED: "the gate was green after it",
    Effect.BETTER: "it got better",
    Effect.SAME: "nothing changed",
    Effect.WORSE: "it got worse",
    Effect.UNKNOWN: "",
}


def duration(seconds: float) -> str:
    if seconds < 1:
        return "under 1 s" if seconds > 0 else "0 s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def money(dollars: float | None) -> str:
    """Cents, and parts of them where there are hardly any."""
    if dollars is None:
        return ""
    cents = f"${dollars:,.2f}"
    exact = f"${dollars:.4f}"
    return cents if dollars >= 0.1 or exact == f"{cents}00" else exact


def count(number: int, thing: str, many: str = "") -> str:
    return f"{number:,} {thing if number == 1 else many or thing + 's'}"


def compact(number: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}".removesuffix(".0") + letter
    return str(number)


def says_tokens(usage: Usage) -> bool:
    return any(
        value is not None for value in (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens)
    )
