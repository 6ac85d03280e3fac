"""PHPUnit and Pest, and PHP itself when it dies."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, added, blocks, tally, unique
from buildloop.patterns import Regex

HEAD = Regex(r"\d+\) (?P<test>[\w\\]+::\w+)(?P<data> with data set .*)?$")
PEST = Regex(r"\s*FAILED\s+(?P<test>\S.* [>›] .*?)(?:\s{2,}(?P<type>\w+))?$")
FRAME = Regex(r"\s*(?:#\d+ |at )?(?P<file>(?:/|[A-Za-z]:\\|[\w-]+/)[^\s:()]*\.php)[:(](?P<line>\d+)\)?")
DIED = Regex(
    r"(?:PHP )?(?P<type>Fatal error|Parse error|Catchable fatal error"
    r"|Recoverable fatal error):\s+(?P<message>.*?)"
    r" in (?P<file>\S+?)(?: on line |:)(?P<line>\d+)"
)
RAISED = Regex(r"(?P<type>(?:[A-Z][\w\\]*)?(?:Error|Exception)): (?P<message>.*)")
COMPARED = Regex(
    r"Failed asserting that (?P<actual>.*?) (?:is identical to|matches expected|is equal to"
    r"|equals) (?P<expected>.*?)\.?$"
)
TALLY = Regex(r"Tests:\s+(?P<run>\d+), Assertions: \d+(?P<rest>.*)")
OK = Regex(r"OK \((?P<run>\d+) tests?, \d+ assertions?\)")
PEST_TALLY = Regex(r"\s*Tests:\s+(?P<parts>(?:\d+ \w+,? ?)+)\(\d+ assertions")
PART = Regex(r"(Failures|Errors|Skipped|Incomplete|Risky): (\d+)")
PEST_PART = Regex(r"(\d+) (failed|passed|skipped|todo|incomplete)")
# A wrong argument is the mistake of whoever called.
CALLED = Regex(r"called in (?P<file>\S+\.php) on line (?P<line>\d+)")
END = Regex(r"(?:FAILURES!|ERRORS!|WARNINGS!|Tests: |--$|There (?:was|were) |OK )")
NO_TESTS = "No tests executed!"


def parse(lines: Lines) -> ToolReport:
    found = [*_blocks(lines), *_died(lines)]
    for index, line in enumerate(lines):
        if line.startswith(NO_TESTS):
            found.append(Sighting(Finding(line, "phpunit", type="NoTests", lines=(line,)), index, index + 1))
    return ToolReport(tuple(found), _counts(lines), unique([s.finding.test or "" for s in found]))


def _blocks(lines: Lines) -> Iterator[Sighting]:
    for start, end in blocks(lines, lambda line: HEAD.match(line) or PEST.match(line), END.match):
        yield _block(lines, start, end)


def _block(lines: Lines, start: int, end: int) -> Sighting:
    block = lines[start:end]
    head = HEAD.match(block[0]) or PEST.match(block[0])
    said = [text for text in block[1:] if text.strip()]
    telling = [text for text in said if not FRAME.match(text)]
    raised = next((m for text in telling if (m := RAISED.match(text.strip()))), None)
    asserted = next((m for text in telling if (m := COMPARED.search(text))), None)
    frame = innermost(Frame(m["file"], int(m["line"][:9])) for text in said if (m := FRAME.match(text)))
    if called := next((m for text in telling if (m := CALLED.search(text))), None):
        frame = Frame(called["file"], int(called["line"][:9]))
    place = next((text for text in said if frame and frame.file in text and str(frame.line) in text), "")
    message = raised["message"] if raised else (telling or [block[0]])[0].strip()
    finding = Finding(
        message=message,
        tool="phpunit",
        test=head["test"] if head else None,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        type=raised["type"] if raised else "AssertionFailed",
        expected=asserted["expected"] if asserted else None,
        actual=asserted["actual"] if asserted else None,
        lines=unique([*telling[:1], place, block[0], *telling[1:7]]),
    )
    return Sighting(finding, start, end)


def _died(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        died = DIED.match(line) if "error: " in line else None
        if died:
            finding = Finding(
                died["message"],
                "php",
                file=died["file"],
                line=int(died["line"][:9]),
                type=died["type"],
                lines=(line,),
            )
            yield Sighting(finding, index, index + 1)


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if match := TALLY.match(line):
            told = {word: int(number) for word, number in PART.findall(match["rest"])}
            failed = told.get("Failures", 0) + told.get("Errors", 0)
            skipped = told.get("Skipped", 0) + told.get("Incomplete", 0)
            found.append(tally(int(match["run"]) - failed - skipped, failed, skipped))
        elif match := OK.match(line):
            found.append(tally(int(match["run"]), 0))
        elif "assertions" in line and (match := PEST_TALLY.match(line)):
            told = {word: int(number) for number, word in PEST_PART.findall(match["parts"])}
            found.append(
                tally(
                    told.get("passed", 0), told.get("failed", 0), told.get("skipped", 0) + told.get("todo", 0)
                )
            )
    return added(found)
