"""The question a person gets when nothing more can be tried: all they need to answer it, on one page."""

from __future__ import annotations

from buildloop.prompt.compose import describe
from buildloop.state import LoopState
from buildloop.text import one_line

LINES_SHOWN = 3
TRIED_SHOWN = 6
LINE_CHARS = 200


def question_for(state: LoopState) -> str:
    """Markdown: what was wanted, what still fails and where, what was tried, and what can be decided."""
    report = state.best.gate
    reading = report.reading
    fails = [f"- {one_line(test, LINE_CHARS)}" for test in reading.failing[:LINES_SHOWN]]
    fails += [f"- {one_line(line, LINE_CHARS)}" for line in reading.error_lines[:LINES_SHOWN]]
    where = f" Most likely place: {reading.location}." if reading.location else ""
    tried = [describe(one) for one in state.iterations if one.agent][-TRIED_SHOWN:]
    steps = [
        f"- {one.recovery.strategy.action}: {str(one.recovery.step).replace('_', ' ')} (iteration {one.number})"
        for one in state.iterations
        if one.recovery and one.recovery.step
    ]
    return "\n".join(
        [
            f"How should this be solved: {one_line(state.request.goal, LINE_CHARS)}",
            "",
            f"At best (iteration {state.best.number}) the gate was {report.in_words}.{where}",
            *fails,
            "",
            "Tried without success:",
            *tried,
            *steps,
            "",
            "Is the failing expectation right? If so, which part of the code should change, and how? "
            "If not, which test or requirement is wrong?",
        ]
    )
