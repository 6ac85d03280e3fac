"""Jest: the `●` blocks, suites that did not run, retries."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers import js_stack
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex

FAIL = Regex(r"\s?FAIL\s+(?:[\w.@/-]+\s+)?(?P<file>\S+\.[\w.]+)(?: \([\d.]+ m?s\))?$")
BULLET = Regex(r"\s{0,4}● (?P<title>\S.*)$")
END = Regex(r"\s*(?:Test Suites:|Tests: |Summary of all failing|(?:FAIL|PASS)\s)|\s*-{3,}\|| ?\S+ \| ")
TESTS = Regex(r"Tests:\s+(?P<parts>.*?)(?P<total>\d+) total")
PART = Regex(r"(\d+) (failed|passed|skipped|todo|pending)")
RETRY = Regex(r" (?:LOGGING RETRY ERRORS |RETRY \d+)")
NO_TESTS = "No tests found, exiting with code"
NOT_A_FAILURE = ("Console", "Cannot log after tests are done", "Deprecation Warning")
NOT_A_TEST = ("Test suite failed to run", "Validation Error", "process.exit called")
HINT = Regex(r"\s*(?:\d+ \||> \d+ \||\| +\^|at |Require stack:|Difference:|$)")


def parse(lines: Lines) -> ToolReport:
    blocks = list(_blocks(lines))
    failing = [finding.test for finding in (b.finding for b in blocks) if finding.test]
    notes = [*_retries(lines), *_nothing_ran(lines)]
    return ToolReport((*blocks, *notes), _counts(lines), unique(failing))


def _blocks(lines: Lines) -> Iterator[Sighting]:
    file, start, title = None, -1, ""
    for index, line in enumerate([*lines, "Test Suites: end"]):
        bullet = BULLET.match(line) if "●" in line else None
        if start >= 0 and (bullet or END.match(line)):
            if not title.startswith(NOT_A_FAILURE):
                yield Sighting(_finding(lines[start:index], title, file), start, index)
            start = -1
        if bullet:
            start, title = index, bullet["title"]
        elif "FAIL" in line and (failed := FAIL.match(line)):
            file = failed["file"]


def _finding(block: Lines, title: str, file: str | None) -> Finding:
    said = [line for line in block[1:] if not HINT.match(line)]
    headline = said[0] if said else block[0]
    if "encountered an unexpected token" in headline:
        headline = next((line for line in said if js_stack.HEADLINE.match(line)), headline)
    told = js_stack.HEADLINE.match(headline)
    frame = js_stack.place(block[1:], file)
    expected, actual = js_stack.expectation(said)
    code = [line for line in block if js_stack.CODE_FRAME.match(line)][:1]
    facts = [line for line in said[1:] if js_stack.EXPECTATION.match(line)]
    lines = [headline, *facts[:3], block[0], js_stack.place_line(block, frame), *code, *said[1:10]]
    return Finding(
        message=headline.strip(),
        tool="tsc" if "error TS" in headline else "jest",
        test=None if title.startswith(NOT_A_TEST) else title.replace(" › ", " "),
        file=frame.file if frame else file,
        line=frame.line if frame else None,
        type=told["type"] if told else "AssertionError" if "expect(" in headline else None,
        expected=expected,
        actual=actual,
        lines=unique(lines),
    )


def _retries(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if line.startswith((" LOGGING RETRY", "LOGGING RETRY")):
            shown = (line, *(after for after in lines[index + 1 : index + 2] if "RETRY" in after))
            yield Sighting(
                Finding("test retried", "jest", type="Retry", lines=shown), index, index + 1, Rank.HINT
            )
            return


def _nothing_ran(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if line.startswith(NO_TESTS):
            yield Sighting(Finding(line.strip(), "jest", type="NoTests", lines=(line,)), index, index + 1)


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if line.startswith("Tests:") and (match := TESTS.match(line)):
            told = {word: int(number) for number, word in PART.findall(match["parts"])}
            skipped = told.get("skipped", 0) + told.get("todo", 0) + told.get("pending", 0)
            found.append(tally(told.get("passed", 0), told.get("failed", 0), skipped))
    return added(found)
