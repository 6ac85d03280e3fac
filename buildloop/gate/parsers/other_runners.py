"""Runners whose failures are a head line and a block: ExUnit, ScalaTest, dart, hspec, gtest, robot, …"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.frames import Frame, innermost, tidy
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex


class Shape(NamedTuple):
    """A failure begins like `head` and ends before a line like `end`; `needs` is elsewhere in the log."""

    tool: str
    needs: str
    head: Regex
    end: Regex


BROWSER = r"(?:Chrome|Firefox|Safari|Edge|Chromium|Electron|PhantomJS|HeadlessChrome|Chrome Headless)"
SHAPES: tuple[Shape, ...] = tuple(
    Shape(tool, needs, Regex(head), Regex(end))
    for tool, needs, head, end in (
        (
            "exunit",
            "Finished in ",
            r"\s{1,4}\d+\) (?:test|property|doctest) (?P<test>.*) \([\w.]+\)$",
            r"\s{1,4}\d+\) |Finished in ",
        ),
        (
            "scalatest",
            "*** FAILED ***",
            r"(?:\[info\]\s*)?\s*- (?P<test>.*) \*\*\* FAILED \*\*\*(?: \(.*\))?$",
            r"(?:\[info\]\s*)?\s*- |.*Run completed|\[info\] \w+:$",
        ),
        (
            "munit",
            "==> X ",
            r"==> X (?P<test>\S+)\s+[\d.]+s\s*(?P<message>.*)$",
            r"==> |.*Test \S+ |\[error\] Failed",
        ),
        ("dart", " [E]", r"\d\d:\d\d \+\d+(?: ~\d+)? -\d+: (?P<test>.*) \[E\]$", r"\d\d:\d\d \+\d+"),
        (
            "hspec",
            " examples, ",
            r"\s{2}\d+\) (?P<test>\S.*)$",
            r"\s{2}\d+\) |Randomized with|Finished in|\d+ examples",
        ),
        ("node:test", "ℹ tests", r"\s*✖ (?P<test>\S.*?) \([\d.]+ms\)$", r"\s*(?:✖|✔|▶|ℹ) |test at "),
        ("bun", "bun test v", r"error: (?P<message>.*)$", r"(?:✗|✓|\(fail\)|\(pass\)) "),
        ("robot", "| FAIL |", r"(?P<test>\S.*?)\s+\| FAIL \|$", r"-{20,}|={20,}"),
        ("deno", "ERRORS", r"(?P<test>\S.*) => \S+?:\d+:\d+$", r"\S.* => \S+:\d+:\d+$| ?FAILURES|FAILED \|"),
        (
            "karma",
            "Executed ",
            rf"(?:\w+ )?{BROWSER}(?: Headless)?\S* [\d.]+ \(.*?\) (?P<test>.*) FAILED$",
            rf"{BROWSER}|Executed \d",
        ),
        (
            "clojure",
            "expected:",
            r"(?:FAIL|ERROR) in \((?P<test>\S+)\) \(\S+:\d+\)$",
            r"(?:FAIL|ERROR) in |Ran \d+ tests",
        ),
        (
            "boost.test",
            "Running ",
            r"\S+\(\d+\): (?:fatal )?error: in \"(?P<test>[^\"]+)\": (?P<message>.*)$",
            r".",
        ),
        ("julia", "Test Failed at ", r"Test Failed at (?P<test>\S+:\d+)$", r"\S"),
        ("testthat", "[ FAIL ", r"── (?:Failure|Error) \((?P<test>[^)]*)\)", r"── |\[ FAIL "),
        ("busted", " → ", r"(?:Failure|Error) → (?P<test>\S+ @ \d+)$", r"(?:Failure|Error) → "),
        ("doctest", "TEST CASE:", r"TEST CASE:\s+(?P<test>.*)$", r"={20,}|\[doctest\]"),
        ("catch2", "test cases:", r"\.{20,}$", r"={20,}|-{20,}$"),
        (
            "gtest",
            "[ RUN      ]",
            r"\[ RUN      \] (?P<test>\S+)$",
            r"\[ +(?:OK|RUN|-+|=+|PASSED|FAILED) +\]",
        ),
    )
)
PLACES: tuple[Regex, ...] = (
    Regex(
        r"(?P<file>[\w./@+-]+\.(?:exs?|jl|R|cljs?|cljc|scala|dart|hs|lua|robot|swift|[cm]?[jt]sx?|java|kt"
        r"|rb|py"
        r"|c|cc|cpp"
        r"|cxx|h|hpp))"
        r"(?::| line |, line |\()(?P<line>\d+)"
    ),
    Regex(r"(?P<file>[\w./:+-]+\.dart) (?P<line>\d+):\d+"),
    Regex(r"(?P<file>[\w./+-]+) @ (?P<line>\d+)"),
)
FACT = Regex(
    r"\s*(?:\[info\]\s*)?(?P<name>expected|actual|left|right|but got|Expected|Actual|got|Which is"
    r"|values)\s*:\s*(?P<value>.*)$"
)
TALLIES: tuple[Regex, ...] = (
    Regex(
        r"(?:\d+ \w+, )?(?P<run>\d+) tests?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) (?:skipped"
        r"|excluded))?"
    ),
    Regex(
        r"(?:\[info\] )?Tests: succeeded (?P<passed>\d+), failed (?P<failed>\d+), canceled \d+, ignored "
        r"(?P<skipped>\d+)"
    ),
    Regex(r"\s*Executed (?P<run>\d+) tests?, with (?:\d+ tests? skipped and )?(?P<failed>\d+) failures?"),
    Regex(r"(?:ok|FAILED) \| (?P<passed>\d+) passed(?: \(.*?\))? \| (?P<failed>\d+) failed"),
    Regex(rf"{BROWSER}.*Executed (?P<run>\d+) of (?P=run).*\((?P<failed>\d+) FAILED\)"),
)
SUCCEEDED = Regex(r"\[ +OK +\]")
ASIDE = Regex(r"\s*(?:at |code:|stacktrace:|[\w./-]+\.\w+:\d+(?::\d+)?$)")
URL = Regex(r"https?://\S+")
MAX_BLOCK = 60


def parse(lines: Lines) -> ToolReport:
    found = [s for shape in SHAPES if any(shape.needs in line for line in lines) for s in _read(lines, shape)]
    return ToolReport(tuple(found), _counts(lines), unique([s.finding.test or "" for s in found]))


def _read(lines: Lines, shape: Shape) -> Iterator[Sighting]:
    index = 0
    while index < len(lines):
        head = shape.head.match(lines[index])
        if not head:
            index += 1
            continue
        end = index + 1
        while end < min(len(lines), index + MAX_BLOCK) and not (lines[end] and shape.end.match(lines[end])):
            end += 1
        if shape.tool == "gtest" and (end == len(lines) or SUCCEEDED.match(lines[end]) or end == index + 1):
            index = end
            continue
        finding = _finding(lines[index:end], head, shape)
        if finding.file is None and index and (above := innermost(_frames(lines[index - 1 : index]))):
            finding = replace(finding, file=above.file, line=above.line)
        yield Sighting(finding, index, end)
        index = end


def _finding(block: Lines, head: re.Match[str], shape: Shape) -> Finding:
    said = [text for text in block[1:] if text.strip()]
    stack = next((i for i, text in enumerate(said) if text.strip() == "stacktrace:"), 0)
    frame = innermost(_frames(said[stack:])) or innermost(_frames(block))
    facts = {m["name"].strip().lower(): m["value"].strip() for text in said if (m := FACT.match(text))}
    place = next((text for text in said if frame and frame.file in text and str(frame.line) in text), "")
    telling = [text for text in said if text != place and not ASIDE.match(text)]
    told = head.groupdict().get("message")
    return Finding(
        message=(told or (telling or said or [block[0]])[0]).strip(),
        tool=shape.tool,
        test=head.groupdict().get("test"),
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        type="AssertionError" if facts else None,
        expected=facts.get("expected") or facts.get("right"),
        actual=facts.get("actual") or facts.get("left") or facts.get("but got") or facts.get("got"),
        lines=unique(
            [
                block[0] if told else "",
                *telling[:1],
                block[0],
                *(t for t in said if FACT.match(t)),
                place,
                *telling[1:6],
            ]
        ),
    )


def _frames(lines: Lines) -> list[Frame]:
    found = (
        next((m for p in PLACES if (m := p.search(text))), None)
        for text in (URL.sub("", line[:500].replace("file://", "")) for line in lines)
    )
    return [Frame(tidy(m["file"]), int(m["line"][:9])) for m in found if m]


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        told = next((m.groupdict() for p in TALLIES if (m := p.match(line))), None)
        if told:
            failed, skipped = int(told["failed"]), int(told.get("skipped") or 0)
            passed = (
                int(told["passed"]) if told.get("passed") else max(0, int(told["run"]) - failed - skipped)
            )
            found.append(tally(passed, failed, skipped))
    return added(found)
