"""Python tracebacks, wherever they are printed."""

from __future__ import annotations

from dataclasses import dataclass

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport
from buildloop.patterns import Regex

START = "Traceback (most recent call last)"
FRAME = Regex(r'\s*(?:\|\s*)?File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?')
RAISED = Regex(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$")
CHAINED = ("During handling of the above", "The above exception was the direct")


@dataclass(frozen=True, slots=True)
class Traceback:
    type: str
    message: str
    line: str
    frames: tuple[Frame, ...]  # the error first
    end: int

    def finding(self, tool: str, test: str | None = None, extra: tuple[str, ...] = ()) -> Finding:
        frame = innermost(self.frames)
        expected, actual = comparison(self.message)
        return Finding(
            message=self.message or self.type,
            tool=tool,
            test=test,
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type=self.type,
            expected=expected,
            actual=actual,
            lines=(self.line, *extra),
        )


def read_traceback(lines: Lines, start: int) -> Traceback | None:
    """The traceback whose `Traceback` line is at `start`; chained ones are separate tracebacks."""
    indent = len(lines[start]) - len(lines[start].lstrip(" |+"))
    frames: list[Frame] = []
    for index in range(start + 1, min(len(lines), start + 2000)):
        line = lines[index]
        if found := FRAME.match(line):
            frames.append(Frame(found["file"], int(found["line"][:9]), found["function"] or ""))
        elif line.strip() and len(line) - len(line.lstrip(" |+")) <= indent:
            raised = RAISED.match(line.strip(" |"))
            if not raised or line.lstrip().startswith("-"):
                return None
            return Traceback(
                raised["type"], raised["message"] or "", line, tuple(reversed(frames)), index + 1
            )
    return None


def comparison(message: str) -> tuple[str | None, str | None]:
    """(expected, actual) of `actual != expected`, as unittest prints it."""
    left, sign, right = message.partition(" != ")
    if not sign or len(left) > 500:
        return None, None
    return right.split(" : ")[0], left


def parse(lines: Lines) -> ToolReport:
    """Uncaught exceptions; the last of a chain is what the program died of, the ones before say why."""
    sightings: list[Sighting] = []
    earlier: list[Traceback] = []
    begun = 0
    index = 0
    while index < len(lines):
        traceback = read_traceback(lines, index) if START in lines[index] else None
        if traceback is None:
            index += 1
            continue
        begun = begun if earlier else index
        index = traceback.end
        chained = any(
            lines[i].lstrip(" |").startswith(CHAINED) for i in range(index, min(index + 3, len(lines)))
        )
        if chained:
            earlier.append(traceback)
            continue
        frame = innermost(traceback.frames)
        place = tuple(
            line for line in lines[begun:index] if frame and f'"{frame.file}", line {frame.line}' in line
        )
        more = (
            [text for text in lines[index : index + 8] if text.strip()]
            if traceback.line.endswith(":")
            else []
        )
        extra = (*place[-1:], *more[:4], *(cause.line for cause in earlier))
        sightings.append(Sighting(traceback.finding("python", extra=extra), begun, index, Rank.TRACE))
        earlier = []
    return ToolReport(tuple(sightings))
