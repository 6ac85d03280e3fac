"""A diagnosis in a few lines for a person: what failed, why we think so, where, what next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from buildloop.diagnosis.model import Diagnosis, FailureMode, LogReading
from buildloop.text import plain_text

VERDICTS = {
    FailureMode.CODE_ERROR: "the code is wrong",
    FailureMode.DEPENDENCY_ISSUE: "something the project depends on is missing or does not fit",
    FailureMode.TEST_FLAKINESS: "the same code passes and fails",
    FailureMode.INFINITE_LOOP: "the work goes round in circles",
    FailureMode.CONTEXT_EXHAUSTION: "the agent's context is full",
}
NEXT_STEPS = {
    FailureMode.CODE_ERROR: "fix the first error shown, then run the gate again",
    FailureMode.DEPENDENCY_ISSUE: "install or pin what is missing; no code needs to change",
    FailureMode.TEST_FLAKINESS: "run the failing tests again on the unchanged code before editing anything",
    FailureMode.INFINITE_LOOP: "stop repeating: return to the best state and try another approach",
    FailureMode.CONTEXT_EXHAUSTION: "start a new session with a summary of this one",
}
NO_REASON = "the log states no reason; a code error is assumed"
DEFAULT_REASON = "nothing points to dependencies, flakiness, a loop or the agent's context"
BOLD, DIM, RED, CYAN = "1", "2", "31", "36"
LABEL_WIDTH = 10
SHOWN_LINES, SHOWN_TESTS, MAX_WIDTH = 6, 5, 200


def printable(text: str) -> str:
    """Text of a log that is safe to print: one line, no control codes, of bounded length."""
    line = plain_text(text.replace("\t", "    ")).replace("\n", " ")
    return line if len(line) <= MAX_WIDTH else line[: MAX_WIDTH - 1] + "…"


def explain(reading: LogReading, diagnosis: Diagnosis, error_lines: Iterable[str], *, colour: bool) -> str:
    paint = _paint if colour else _plain
    mode, doubt = paint(str(diagnosis.mode), BOLD, RED), paint(_doubt(diagnosis), DIM)
    rows = [f"{mode}: {VERDICTS[diagnosis.mode]} {doubt}", ""]
    for label, lines in _sections(reading, diagnosis, list(error_lines)):
        for index, line in enumerate(lines):
            rows.append(f"{paint((label if index == 0 else '').ljust(LABEL_WIDTH), CYAN)}{printable(line)}")
    return "\n".join(rows)


def _sections(
    reading: LogReading, diagnosis: Diagnosis, error_lines: list[str]
) -> Iterator[tuple[str, list[str]]]:
    yield "tests", _tests(reading)
    yield "why", _reasons(diagnosis, error_lines)
    yield "where", [reading.location] if reading.location else []
    shown = [line for line in error_lines if line not in diagnosis.evidence][:SHOWN_LINES]
    yield "log", shown
    yield "before", [f"failed before the agent began: {name}" for name in diagnosis.preexisting[:SHOWN_TESTS]]
    yield "next", [NEXT_STEPS[diagnosis.mode]]


def _tests(reading: LogReading) -> list[str]:
    if reading.counts is None:
        return []
    counts = reading.counts
    failing = list(reading.failing[:SHOWN_TESTS])
    more = len(reading.failing) - len(failing)
    return [f"{counts.failed} of {counts.run} failed", *failing, *([f"and {more} more"] if more > 0 else [])]


def _reasons(diagnosis: Diagnosis, error_lines: list[str]) -> list[str]:
    if diagnosis.mode is not FailureMode.CODE_ERROR:
        return list(diagnosis.evidence)
    return [DEFAULT_REASON if error_lines else NO_REASON, *diagnosis.evidence]


def _doubt(diagnosis: Diagnosis) -> str:
    other = f", else {diagnosis.runner_up}" if diagnosis.runner_up else ""
    return f"({diagnosis.confidence:.0%} sure{other})"


def _paint(text: str, *codes: str) -> str:
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"


def _plain(text: str, *_codes: str) -> str:
    return text
