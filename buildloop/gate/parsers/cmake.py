"""cmake's configure errors and ctest's results."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex

ERROR = Regex(
    r"CMake Error(?: \(dev\))?(?: at (?P<file>[^\s:]+):(?P<line>\d+)(?: "
    r"\((?P<type>\w+)\))?)?:?\s?(?P<message>.*)$"
)
CTEST = Regex(
    r"\s*\d*/?\d*\s*Test\s+#\d+: (?P<test>\S+) \.*\s*(?P<how>[A-Z][\w ]*)?\*\*\*(?P<result>Failed|Timeout"
    r"|Exception|Not Run"
    r"|Skipped)(?P<detail>.*)$"
)
NEXT = Regex(r"\s+Start\s+\d+: |\s*\d+/\d+ Test +#|\d+% tests passed|\s*Test +#\d+: ")
PLACED = Regex(r"\s*(?P<file>[^\s:()]+\.\w+)[:(](?P<line>\d+)\)?:\s?(?P<message>.*)$")
TALLY = Regex(r"\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)")
# The error itself, or one entry of the call stack below it: modules of cmake are no place of ours.
CALL = Regex(r"(?:CMake Error(?: \(dev\))? at |\s+)(?P<file>[\w./+-]+\.(?:txt|cmake)):(?P<line>\d{1,8})\b")
LISTED = "The following tests FAILED:"


def parse(lines: Lines) -> ToolReport:
    found = [*_configure(lines), *_tests(lines), *_notes(lines)]
    failing = [s.finding.test for s in found if s.finding.test]
    return ToolReport(tuple(found), _counts(lines), unique(failing))


def _configure(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        error = ERROR.match(line) if line.startswith("CMake Error") else None
        if not error:
            continue
        end = index + 1
        while (
            end < len(lines)
            and (not lines[end].strip() or lines[end].startswith(("  ", "Call Stack")))
            and end < index + 40
        ):
            end += 1
        said = [text for text in lines[index + 1 : end] if text.strip()]
        telling = _telling(said)
        place = innermost([Frame(m["file"], int(m["line"])) for t in (line, *said) if (m := CALL.match(t))])
        finding = Finding(
            message=" ".join(text.strip() for text in telling[:3]) or error["message"] or line,
            tool="cmake",
            file=place.file if place else None,
            line=place.line if place else None,
            type=error["type"],
            lines=unique([line, *telling[:5], *said[:6]]),
        )
        yield Sighting(finding, index, end)


def _telling(said: list[str]) -> list[str]:
    """find_package explains its search before it says what is missing."""
    start = next(
        (i for i, text in enumerate(said) if text.lstrip().startswith(("Could not find", "Could NOT find"))),
        0,
    )
    return said[start:]


def _tests(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        result = CTEST.match(line) if "***" in line else None
        if not result or result["result"] == "Skipped":
            continue
        end = index + 1
        while end < len(lines) and not NEXT.match(lines[end]) and end < index + 200:
            end += 1
        said = [text for text in lines[index + 1 : end] if text.strip()]
        placed = next((m for text in said if (m := PLACED.match(text))), None)
        ended = result["how"] or (result["result"] + result["detail"]).split("  ")[0]
        finding = Finding(
            message=placed["message"] if placed else (said[0].strip() if said else ended),
            tool="ctest",
            test=result["test"],
            file=placed["file"] if placed else None,
            line=int(placed["line"][:9]) if placed else None,
            type=ended if result["result"] != "Failed" else None,
            lines=unique([placed.string if placed else "", line, *said[:8]]),
        )
        # Compiler errors, traces and assertions in a test's output explain more than ctest can.
        yield Sighting(finding, index, index + 1)


def _notes(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if line.startswith(LISTED):
            listed = [text for text in lines[index : index + 6] if text.strip()]
            yield Sighting(Finding(line, "ctest", lines=tuple(listed)), index, index + 1, Rank.HINT)
        elif line.startswith("No tests were found"):
            yield Sighting(Finding(line, "ctest", type="NoTests", lines=(line,)), index, index + 1)


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if "% tests passed" in line and (match := TALLY.match(line)):
            failed, total = int(match["failed"]), int(match["total"])
            found.append(tally(total - failed, failed))
    return added(found)
