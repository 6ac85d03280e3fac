"""Runners of smaller worlds: ExUnit, ScalaTest, XCTest, dart, hspec, ava, bazel, robot, deno."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import Frame, innermost, tidy
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique


@dataclass(frozen=True, slots=True)
class Shape:
    """A failure that begins with `head` and goes on until `end`, a blank line where `blank_ends`."""

    tool: str
    head: re.Pattern[str]
    end: re.Pattern[str]
    blank_ends: bool = False
    rank: Rank = Rank.CAUSE


SHAPES: tuple[Shape, ...] = tuple(
    Shape(tool, re.compile(head), re.compile(end), blank_ends)
    for tool, head, end, blank_ends in (
        (
            "exunit",
            r"\s{1,4}\d+\) (?:test|property|doctest) (?P<test>.*) \([\w.]+\)$",
            r"\s{1,4}\d+\) |Finished in |\s*$",
            False,
        ),
        (
            "scalatest",
            r"(?:\[info\]\s*)?\s*- (?P<test>.*) \*\*\* FAILED \*\*\*(?: \(.*\))?$",
            r"(?:\[info\]\s*)?\s*- |.*\bRun completed|\[info\] \w+:$",
            False,
        ),
        ("munit", r"==> X (?P<test>\S+)\s+[\d.]+s\s*(?P<message>.*)$", r"==> |.*Test \S+ |\s*$", True),
        ("dart", r"\d\d:\d\d \+\d+(?: ~\d+)? -\d+: (?P<test>.*) \[E\]$", r"\d\d:\d\d \+\d+", False),
        (
            "hspec",
            r"\s{2}\d+\) (?P<test>\S.*)$",
            r"\s{2}\d+\) |Randomized with|Finished in|\d+ examples",
            False,
        ),
        ("ava", r"\s{2}(?:✘|✖|×) (?:\[fail\]: )?(?P<test>\S.*)$", r"\s{2}(?:✘|✖|✔|─)", False),
        ("node:test", r"\s*✖ (?P<test>\S.*?) \([\d.]+ms\)$", r"\s*(?:✖|✔|▶|ℹ) |test at ", False),
        ("robot", r"(?P<test>\S.*?)\s+\| FAIL \|$", r"-{20,}|={20,}", False),
        ("bazel", r"(?://|@)\S+:(?P<test>\S+)\s+(?:FAILED|TIMEOUT)(?: TO BUILD)? in .*$", r".*", False),
        ("deno", r"(?P<test>\S.*) => (?:\S+?):\d+:\d+$", r"\S.* => \S+:\d+:\d+$| FAILURES|FAILED \|", False),
        ("jasmine", r"\s*\d+\) (?P<test>\S.*)\n$", r"\s*$", True),
        (
            "karma",
            r"(?:\w+ )?(?:Chrome|Firefox|Safari|Edge|Chromium|Electron|PhantomJS)\S* [\d.]+ \(.*?\) (?P<test>.*) FAILED$",
            r"\S|\s*$",
            False,
        ),
        ("busted", r"(?:Failure|Error) → (?P<file>\S+?) @ (?P<line>\d+)$", r"\s*$", False),
    )
)
PLACES: tuple[re.Pattern[str], ...] = (
    re.compile(
        r".*?\(?(?P<file>[\w./+-]+\.(?:exs?|scala|dart|hs|lua|robot|swift|[cm]?[jt]sx?|java|kt|rb|py)):(?P<line>\d+)"
    ),
    re.compile(r"\s*(?P<file>[\w./:+-]+\.dart) (?P<line>\d+):\d+"),
    re.compile(r".*?\((?P<file>[\w./+-]+):(?P<line>\d+):\d+\)"),
)
FACT = re.compile(
    r"\s*(?P<name>expected|actual|left|right|but got|Expected|Actual|  Actual|got)\s*:\s*(?P<value>.*)$"
)
MAX_BLOCK = 60


def parse(lines: Lines) -> ToolReport:
    found = [sighting for shape in SHAPES for sighting in _read(lines, shape)]
    return ToolReport(tuple(found), failing=unique([s.finding.test or "" for s in found]))


def _read(lines: Lines, shape: Shape) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        head = shape.head.match(line)
        if not head:
            continue
        end = index + 1
        while end < min(len(lines), index + MAX_BLOCK):
            if (lines[end].strip() or shape.blank_ends) and shape.end.match(lines[end]):
                break
            end += 1
        yield Sighting(_finding(lines[index:end], head, shape), index, max(end, index + 1), shape.rank)


def _finding(block: Lines, head: re.Match[str], shape: Shape) -> Finding:
    said = [text for text in block[1:] if text.strip()]
    frame = innermost(_frames(said)) or innermost(_frames(block[:1]))
    facts = {m["name"].strip().lower(): m["value"].strip() for text in said if (m := FACT.match(text))}
    place = next((text for text in said if frame and f"{frame.file}" in text and str(frame.line) in text), "")
    telling = [text for text in said if text != place and not _frames([text])]
    return Finding(
        message=(telling or said or [block[0]])[0].strip(),
        tool=shape.tool,
        test=head.groupdict().get("test"),
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        type="AssertionError" if facts else None,
        expected=facts.get("expected") or facts.get("right"),
        actual=facts.get("actual") or facts.get("left") or facts.get("but got") or facts.get("got"),
        lines=unique([*telling[:1], block[0], *(t for t in said if FACT.match(t)), place, *telling[1:6]]),
    )


def _frames(lines: Lines) -> list[Frame]:
    found = (next((m for p in PLACES if (m := p.match(text[:500]))), None) for text in lines)
    return [Frame(tidy(m["file"]), int(m["line"][:9])) for m in found if m]
