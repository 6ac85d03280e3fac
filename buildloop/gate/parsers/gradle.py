"""Gradle: failed tests, `* What went wrong`, and tasks that failed."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers import jvm_stack
from buildloop.gate.parsers.frames import is_foreign_package
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex

FAILED = Regex(r"(?P<class>[\w.$]+)(?: > .+?)? > (?P<method>.+?) FAILED$")
AT = Regex(r"\s+(?P<type>[\w.$]+) at (?P<file>[\w$]+\.\w+):(?P<line>\d+)")
TALLY = Regex(r"(?P<run>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?")
WRONG = "* What went wrong:"
ECHO = Regex(
    r"There were failing tests|Compilation (?:error|failed)|Compilation failed; see|Process 'command"
    r"|See the report at"
)
BUILD_FILE = Regex(r"(?:Build file|Script|Settings file) '(?P<file>[^']+)' line: (?P<line>\d+)")


def parse(lines: Lines) -> ToolReport:
    tests = list(_tests(lines))
    failing = [s.finding.test for s in tests if s.finding.test]
    return ToolReport((*tests, *_wrong(lines)), _counts(lines), unique(failing))


def _tests(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        failed = FAILED.match(line) if line.endswith(" FAILED") and not line.startswith(">") else None
        if not failed:
            continue
        end = index + 1
        while (
            end < len(lines)
            and (
                lines[end].startswith("    ")
                or (not lines[end].strip() and lines[end + 1 : end + 2] and lines[end + 1].startswith("    "))
            )
            and end < index + 200
        ):
            end += 1
        test = f"{failed['class']}.{failed['method'].removesuffix('()')}"
        block = lines[index + 1 : end]
        placed = next((m for text in block if (m := AT.match(text))), None)
        finding = jvm_stack.finding_of(block, "gradle", test, (line,))
        if placed and (finding is None or finding.file is None):
            kind = placed["type"].rpartition(".")[2]
            finding = Finding(
                kind,
                "gradle",
                test,
                placed["file"],
                int(placed["line"][:9]),
                kind,
                lines=unique([placed.string, line, *block[:4]]),
            )
        yield Sighting(finding or _unthrown(block, line, test), index, end)


def _unthrown(block: Lines, head: str, test: str) -> Finding:
    """Spock prints the condition instead of an exception."""
    frames = [m for text in block if (m := jvm_stack.FRAME.match(text))]
    own = next((m for m in frames if not is_foreign_package(m["where"])), None)
    said = [text for text in block if text.strip() and not jvm_stack.FRAME.match(text)]
    return Finding(
        message=(said or [head])[0].strip(),
        tool="gradle",
        test=test,
        file=own["file"] if own else None,
        line=int(own["line"][:9]) if own and own["line"] else None,
        lines=unique([*said[:2], head, own.string if own else "", *said[2:6]]),
    )


def _wrong(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if line.strip() != WRONG:
            continue
        end = index + 1
        while end < len(lines) and not lines[end].startswith("* ") and end < index + 30:
            end += 1
        said = [text for text in lines[index + 1 : end] if text.strip()]
        if not said:
            continue
        place = next((m for text in lines[max(0, index - 6) : index] if (m := BUILD_FILE.search(text))), None)
        causes = [text for text in said if text.lstrip().startswith(">")]
        echo = any(ECHO.search(text) for text in said)
        finding = Finding(
            message=(causes[-1] if causes else said[0]).strip(" >"),
            tool="gradle",
            file=place["file"] if place else None,
            line=int(place["line"][:9]) if place else None,
            type="task",
            lines=unique([*causes[-1:], said[0], *said[:8], place.string if place else ""]),
        )
        yield Sighting(finding, index, end, Rank.CASCADE if echo else Rank.CAUSE)


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if " completed" in line and (match := TALLY.match(line.strip())):
            run, failed, skipped = int(match["run"]), int(match["failed"] or 0), int(match["skipped"] or 0)
            found.append(tally(run - failed - skipped, failed, skipped))
    return added(found)
