"""Vitest: the FAIL blocks between its `⎯⎯⎯` rules."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers import js_stack
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex

FAIL = Regex(r"\s?FAIL\s+(?:\|\S+\| )?(?P<file>\S+\.[cm]?[jt]sx?)(?: > (?P<name>.*)| \[ .*)?$")
RULE = Regex(r"\s*⎯{3,}")
TESTS = Regex(r"\s+Tests\s+(?P<parts>.*\(\d+\))")
PART = Regex(r"(\d+) (failed|passed|skipped|todo)")
UNHANDLED = Regex(r"⎯+ ?(?:Unhandled (?:Errors?|Rejections?)|Uncaught Exception|Startup Error)")
LOOSE = ("No test files found", "Error: No test suite found", "failed to load config from")
CODE = Regex(r"\s+(?:\d+\|| +\^|\|)|\s*❯ |\s*$")


def parse(lines: Lines) -> ToolReport:
    blocks = list(_blocks(lines))
    failing = [f"{b.finding.test}" for b in blocks if b.finding.test]
    loose = [
        Sighting(
            Finding(line.strip(), "vitest", type="NoTests" if "No test" in line else None, lines=(line,)),
            i,
            i + 1,
        )
        for i, line in enumerate(lines)
        if line.startswith(LOOSE)
    ]
    return ToolReport((*blocks, *loose), _counts(lines), unique(failing))


def _blocks(lines: Lines) -> Iterator[Sighting]:
    heads: list[int] = []
    body = -1
    for index, line in enumerate([*lines, "⎯⎯⎯ end"]):
        fails = "FAIL" in line and FAIL.match(line)
        unhandled = UNHANDLED.match(line)
        if heads and (RULE.match(line) or (fails and body >= 0)):
            yield from _finding(lines, heads, index)
            heads, body = [], -1
        if fails or unhandled:
            heads.append(index)
        elif heads and line.strip():
            body = index


def _finding(lines: Lines, heads: list[int], end: int) -> Iterator[Sighting]:
    """Tests that fail with the same error are listed together, above one error."""
    block = lines[heads[-1] + 1 : end]
    said = [line for line in block if not CODE.match(line)]
    if not said:
        return
    named = FAIL.match(lines[heads[0]])
    frame = js_stack.place(block, named["file"] if named else None)
    told = js_stack.HEADLINE.match(said[0])
    expected, actual = js_stack.expectation(said)
    test = f"{named['file']} > {named['name']}" if named and named["name"] else None
    diff = [line for line in said[1:] if line.startswith(("- ", "+ ", "  - ", "  + "))]
    finding = Finding(
        message=said[0].strip(),
        tool="vitest",
        test=test,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        type=told["type"] if told else None,
        expected=expected or _signed(diff, "-"),
        actual=actual or _signed(diff, "+"),
        lines=unique([said[0], lines[heads[0]], *diff[:5], js_stack.place_line(block, frame), *said[1:8]]),
    )
    yield Sighting(finding, heads[0], end)


def _signed(diff: list[str], sign: str) -> str | None:
    values = [line.strip()[2:] for line in diff if line.strip().startswith(sign)]
    told = [value for value in values if value and value not in ("Expected", "Received")]
    return told[0] if len(told) == 1 else None


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if "Tests " in line and (match := TESTS.match(line)):
            told = {word: int(number) for number, word in PART.findall(match["parts"])}
            skipped = told.get("skipped", 0) + told.get("todo", 0)
            found.append(tally(told.get("passed", 0), told.get("failed", 0), skipped))
    return added(found)
