"""One failure with what a person needs to act: what failed, why, what was seen before, what to do."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from buildloop.diagnosis.categories import error_class
from buildloop.diagnosis.explain import NEXT_STEPS, VERDICTS
from buildloop.diagnosis.model import Diagnosis, ErrorClass
from buildloop.errors import InputError
from buildloop.memory.location import Kind, memory_location
from buildloop.redact import Redactor, redactor
from buildloop.report.safe import visible
from buildloop.text import one_line

WHAT, WHY, SIMILAR, ACTIONS = "What Failed", "Why", "Similar Past Issues", "Suggested Actions"
MOST_LINES = 40
LINES_SHOWN = 12
LINE_CHARS = 400
EVIDENCE_SHOWN = 5
SIMILAR_SHOWN = 3
ACTIONS_SHOWN = 4
WIDTH = 80
NONE_SEEN = "None in this repository's memory."
NOT_ASKED = "Memory was not asked."
MEMORY_OFF = "Memory is switched off, so it was not asked."

MEANINGS: dict[ErrorClass, str] = {
    ErrorClass.FILE_ACCESS: "a file or folder could not be read or written",
    ErrorClass.FUNCTION_ERROR: "something was called that cannot be called so",
    ErrorClass.SYNTAX_ERROR: "the source could not be parsed",
    ErrorClass.ASSERTION_FAILURE: "a test got another value than it expects",
    ErrorClass.TYPE_ERROR: "a value is of the wrong type or shape",
    ErrorClass.TIMEOUT: "something took longer than it was allowed to",
    ErrorClass.MEMORY_ERROR: "memory or the stack ran out",
    ErrorClass.NETWORK_ERROR: "a connection failed or was refused",
    ErrorClass.RESOURCE_ERROR: "a resource (disk, port, handle, quota) was not to be had",
    ErrorClass.UNKNOWN: "the message fits no known class of errors",
}
AGENT_STAGE = "agent"
AGENT_ACTIONS = (
    "Start the agent by hand in the same environment and see whether it answers.",
    "Mend what it complains about (credentials, billing, permissions, network), then resume the run.",
)
DEFAULT_ACTIONS = (
    "Read the first error line above and the file it names; later ones often follow from it.",
    "Run the gate command by hand on the same commit to see the whole log.",
)


@dataclass(frozen=True, slots=True)
class SimilarFailure:
    """A failure met before. `worked` of `tried` runs that were shown `fix` saw the failure vanish."""

    message: str
    fix: str = ""
    worked: int = 0
    tried: int = 0
    seen: int = 1

    @property
    def record(self) -> str:
        return f"worked {self.worked} of {self.tried}" if self.tried else "not tried again yet"


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """`error` are the lines of a log; `diagnosis` is None where nothing has judged them; `note` says why nothing is
    similar, where that is so."""

    error: str
    stage: str
    iteration: int
    goal: str
    issue: int | None = None
    diagnosis: Diagnosis | None = None
    similar: tuple[SimilarFailure, ...] = ()
    actions: tuple[str, ...] = ()
    note: str = NONE_SEEN

    @property
    def error_class(self) -> ErrorClass:
        if self.diagnosis is not None and self.diagnosis.error_class is not ErrorClass.UNKNOWN:
            return self.diagnosis.error_class
        classes = (error_class(line) for line in self.lines)
        return next((found for found in classes if found is not ErrorClass.UNKNOWN), ErrorClass.UNKNOWN)

    @property
    def lines(self) -> list[str]:
        """The first ones that say anything: the cause stands before what follows from it."""
        begin = self.error[: MOST_LINES * LINE_CHARS]
        lines = (line.rstrip()[:LINE_CHARS] for line in visible(begin).splitlines() if line.strip())
        return list(islice(lines, MOST_LINES))

    @property
    def where(self) -> list[tuple[str, str]]:
        """Stage, iteration, issue and goal, as far as there are any."""
        issue = [("issue", f"#{self.issue}")] if self.issue is not None else []
        return [
            ("stage", self.stage),
            ("iteration", str(self.iteration)),
            *issue,
            ("goal", one_line(visible(self.goal))),
        ]

    @property
    def reasons(self) -> list[str]:
        if self.stage == AGENT_STAGE:
            return ["The agent could not be used; this says nothing about the code."]
        told = [f"{self.error_class}: {MEANINGS[self.error_class]}."]
        if self.diagnosis is not None:
            sure = f"{self.diagnosis.confidence:.0%} sure"
            told.append(f"{self.diagnosis.mode} ({sure}): {VERDICTS[self.diagnosis.mode]}.")
        return told

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do; where nobody has suggested anything, what always helps."""
        if self.actions:
            return self.actions[:ACTIONS_SHOWN]
        if self.stage == AGENT_STAGE:
            return AGENT_ACTIONS
        first = NEXT_STEPS[self.diagnosis.mode] if self.diagnosis else ""
        return ((first[0].upper() + first[1:] + ".",) if first else ()) + DEFAULT_ACTIONS


def format_context_error_report(
    error_msg: str,
    stage: str,
    iteration: int,
    goal: str,
    issue_number: int | None = None,
    *,
    diagnosis: Diagnosis | None = None,
    similar: Sequence[SimilarFailure] | None = None,
    actions: Sequence[str] = (),
    note: str = NONE_SEEN,
    plain: bool | None = None,
) -> str:
    """For a terminal, in four sections. Where `similar` is not given, memory is asked. Plain (no colour, no drawing) if
    so asked, or by `NO_COLOR`."""
    from buildloop.report.recollection import recalled  # noqa: PLC0415 (it builds on the values here)

    context = ErrorContext(error_msg, stage, iteration, goal, issue_number, diagnosis, note=note)
    context = recalled(context, similar, actions)
    bare = bool(os.environ.get("NO_COLOR")) if plain is None else plain
    return "\n".join(_lines(masked(context, redactor(os.environ)), bare=bare)) + "\n"


def masked(context: ErrorContext, mask: Redactor) -> ErrorContext:
    """Before anything is cut: half a secret is still half a secret."""

    def clean(text: str) -> str:
        return mask(visible(text))

    found = context.diagnosis
    return replace(
        context,
        error=clean(context.error),
        stage=clean(context.stage),
        goal=clean(context.goal),
        diagnosis=replace(found, evidence=tuple(map(clean, found.evidence))) if found else None,
        similar=tuple(
            replace(one, message=clean(one.message), fix=clean(one.fix)) for one in context.similar
        ),
        actions=tuple(map(clean, context.actions)),
        note=clean(context.note),
    )


def unavailable(why: str) -> str:
    return f"Memory is not available: {one_line(why, 200)}"


def memory_is_off() -> bool:
    """What is set wrongly is not off; whoever asks is told."""
    try:
        return memory_location(os.environ).kind is Kind.OFF
    except InputError:
        return False


def _lines(context: ErrorContext, *, bare: bool) -> Iterator[str]:
    width = max(len(name) for name, _ in context.where)
    for name, value in context.where:
        yield f"{name.ljust(width)}  {one_line(value, 200)}"
    for title, rows in sections(context):
        yield ""
        yield from _title(title, bare=bare)
        for row in rows:
            yield from textwrap.wrap(row, WIDTH, initial_indent="  ", subsequent_indent="    ") or [""]


def sections(context: ErrorContext) -> Iterator[tuple[str, list[str]]]:
    """The four sections as lines of plain text."""
    yield WHAT, _shown(context.lines, LINES_SHOWN) or ["(the log says nothing)"]
    evidence = list(context.diagnosis.evidence) if context.diagnosis else []
    because = [f"because: {one_line(visible(line), LINE_CHARS)}" for line in evidence[:EVIDENCE_SHOWN]]
    yield WHY, [*context.reasons, *because]
    yield SIMILAR, [similar_words(one) for one in context.similar[:SIMILAR_SHOWN]] or [context.note]
    yield (
        ACTIONS,
        [f"{number}. {one_line(visible(action), 400)}" for number, action in enumerate(context.advice, 1)],
    )


def similar_words(one: SimilarFailure) -> str:
    fix = f" Fixed by: {one_line(visible(one.fix))} ({one.record})." if one.fix else " No confirmed fix."
    times = f" (seen {one.seen} times)" if one.seen > 1 else ""
    return f"{one_line(visible(one.message))}{times}.{fix}"


def _shown(lines: Sequence[str], most: int) -> list[str]:
    kept = [one_line(line, LINE_CHARS) for line in lines[:most]]
    more = len(lines) - most
    return [*kept, f"… and {more:,} more lines"] if more > 0 else kept


def _title(title: str, *, bare: bool) -> tuple[str, ...]:
    if bare:
        return (title, "-" * len(title))
    return (f"\x1b[1;36m━━ {title} {'━' * (WIDTH - len(title) - 4)}\x1b[0m",)
