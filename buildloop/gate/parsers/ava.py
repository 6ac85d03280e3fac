"""AVA: a list of results, then one section a failure, headed by the test's name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers import js_stack
from buildloop.gate.parsers.frames import Frame, tidy
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, tally, unique
from buildloop.patterns import Regex

FAILED = Regex(r"\s{2}[✘✖] (?:\[fail\]: )?(?P<test>\S.*)$")
STALLED = Regex(
    r"\s*[✘✖] (?P<message>(?:Timed out|No tests found|Couldn't find|Uncaught exception|Unhandled).*)$"
)
RULE = Regex(r"\s{2}─+$")
PLACE = Regex(r"\s{2}(?:› )?(?:\S.* \()?(?:file://)?(?P<file>[^\s:()]+\.[cm]?[jt]sx?):(?P<line>\d+)")
TALLY = Regex(
    r"\s{2}(?P<number>\d+) tests? (?P<word>passed|failed|skipped)|\s{2}(?P<n2>\d+) (?P<w2>uncaught"
    r"|unhandled)"
)


def parse(lines: Lines) -> ToolReport:
    if not any(RULE.match(line) for line in lines):
        return ToolReport()
    found = list(_failures(lines))
    return ToolReport(tuple(found), _counts(lines), unique([s.finding.test or "" for s in found]))


def _failures(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if stalled := STALLED.match(line):
            pending = [text for text in lines[index + 1 : index + 8] if text.strip() and not RULE.match(text)]
            kind = (
                "Timeout"
                if "Timed out" in line
                else "NoTests"
                if "o tests" in line or "Couldn't" in line
                else None
            )
            yield Sighting(
                Finding(stalled["message"], "ava", type=kind, lines=(line, *pending[:4])), index, index + 1
            )
        elif failed := FAILED.match(line):
            yield Sighting(_finding(lines, index, failed["test"]), index, index + 1)


def _finding(lines: Lines, index: int, test: str) -> Finding:
    start = next((i for i in range(index + 1, len(lines)) if lines[i].strip() == test), len(lines))
    end = next(
        (i for i in range(start + 1, len(lines)) if RULE.match(lines[i]) or FAILED.match(lines[i])),
        len(lines),
    )
    section = [text for text in lines[start + 1 : end] if text.strip()]
    place = next((m for text in section if (m := PLACE.match(text))), None)
    frame = Frame(tidy(place["file"]), int(place["line"][:9])) if place else None
    told = next((m for text in section if (m := js_stack.HEADLINE.match(text))), None)
    diff = [text for text in section if re.match(r"\s{2}[-+] ", text)]
    code = [text for text in section if re.match(r"\s+\d+:", text)]
    said = [
        text
        for text in section
        if text not in code and text not in diff and (not place or text != place.string)
    ]
    return Finding(
        message=(told.string if told else (said or [lines[index]])[0]).strip(),
        tool="ava",
        test=test,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        type=told["type"] if told else "AssertionError",
        lines=unique(
            [told.string if told else "", lines[index], *diff[:4], place.string if place else "", *said[:5]]
        ),
    )


def _counts(lines: Lines) -> TestCounts | None:
    told: dict[str, int] = {}
    for line in lines:
        if (match := TALLY.match(line)) and match["word"]:
            told[match["word"]] = int(match["number"])
    return tally(told.get("passed", 0), told.get("failed", 0), told.get("skipped", 0)) if told else None
