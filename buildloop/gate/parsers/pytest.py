"""pytest: failure blocks, the short summary, collection and usage errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.pytest_block import RAISED, read_block
from buildloop.gate.parsers.pytest_session import session_trouble
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex

SECTION = Regex(r"={3,} (?P<title>.+?) ={3,}$")
BLOCK = Regex(r"_{3,} (?P<title>.{1,300}?) _{3,}$")
SUMMARY = Regex(r"(?:FAILED|ERROR) (?P<test>\S+\.pyx?(?:::.+?)?)(?: - (?P<message>.*))?$")
PROGRESS = Regex(
    r"(?:\[gw\d+\] \[ *\d+%\] (?:FAILED|ERROR) (?P<worker>\S+::\S+)|(?P<own>\S+\.py::\S.*?) (?:FAILED"
    r"|ERROR)\b)"
)
TALLY = Regex(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")
TALLY_LINE = Regex(r"(?:=+ )?(?:\d+ \w+, )*\d+ \w+ in [\d.]+ ?s")
NO_TESTS = Regex(r"(?:=+ )?(?:no tests ran|no tests collected|\d+ deselected in )")
COLLECTING = "ERROR collecting "


def parse(lines: Lines) -> ToolReport:
    summary = _summary(lines)
    blocks = list(_blocks(lines, summary))
    explained = {block.finding.test for block in blocks}
    claimed = {index for block in blocks for index in range(block.at, block.until)}
    rest = [
        Sighting(_from_summary(test, line), at, at + 1)
        for test, (at, line) in summary.items()
        if test not in explained
    ]
    found = [*blocks, *rest, *session_trouble(lines, claimed)] or list(_nothing_ran(lines))
    return ToolReport(tuple(found), _counts(lines), unique([*summary, *_progressed(lines)]))


def _summary(lines: Lines) -> dict[str, tuple[int, str]]:
    """Failing test ids with the place and text of their line in the short summary."""
    found: dict[str, tuple[int, str]] = {}
    for index, line in enumerate(lines):
        if line.startswith(("FAILED ", "ERROR ")) and (match := SUMMARY.match(line)):
            found.setdefault(match["test"], (index, line))
    return found


def _blocks(lines: Lines, summary: dict[str, tuple[int, str]]) -> Iterator[Sighting]:
    inside, start, title = False, -1, ""
    for index, line in enumerate([*lines, "=== end ==="]):
        begins = BLOCK.match(line) if line.startswith("___") else None
        section = SECTION.match(line) if line.startswith("===") else None
        if (begins or section) and start >= 0:
            test = _test_id(title, summary)
            finding = read_block(lines[start + 1 : index], test)
            if finding:
                said = summary.get(test, (0, ""))[1]
                shown = (*finding.lines[:4], said, *finding.lines[4:]) if said else finding.lines
                yield Sighting(replace(finding, lines=shown), start, index)
            start = -1
        if section:
            inside = section["title"] in ("FAILURES", "ERRORS")
        elif begins and inside:
            start, title = index, begins["title"]


def _test_id(title: str, summary: dict[str, tuple[int, str]]) -> str:
    """A block is headed `TestCart.test_sum`; the runner wants `tests/test_cart.py::TestCart::test_sum`."""
    name = (
        title.removeprefix(COLLECTING)
        .removeprefix("ERROR at setup of ")
        .removeprefix("ERROR at teardown of ")
    )
    dotted, _, parameters = name.partition("[")
    suffix = dotted.replace(".", "::") + (f"[{parameters}" if parameters else "")
    return next((test for test in summary if test == name or test.endswith("::" + suffix)), name)


def _from_summary(test: str, line: str) -> Finding:
    match = SUMMARY.match(line)
    message = (match["message"] if match else None) or line
    kind = RAISED.match(f"E {message}")
    return Finding(
        message=message,
        tool="pytest",
        test=test,
        file=test.split("::", maxsplit=1)[0],
        type=kind["type"] if kind else "AssertionError" if message.startswith("assert ") else None,
        lines=(line,),
    )


def _nothing_ran(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if NO_TESTS.match(line):
            yield Sighting(Finding("no tests ran", "pytest", type="NoTests", lines=(line,)), index, index + 1)


def _progressed(lines: Lines) -> list[str]:
    return [
        found["worker"] or found["own"]
        for line in lines
        if ("FAILED" in line or "ERROR" in line) and "::" in line and (found := PROGRESS.match(line))
    ]


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if " in " not in line or not TALLY_LINE.match(line):
            continue
        told = {word.rstrip("s"): int(number) for number, word in TALLY.findall(line)}
        if told:
            passed = told.get("passed", 0) + told.get("xpassed", 0)
            failed = told.get("failed", 0) + told.get("error", 0)
            found.append(tally(passed, failed, told.get("skipped", 0) + told.get("xfailed", 0)))
    return added(found)
