"""Minitest and test-unit, also as Rails prints them."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, added, blocks, tally, unique
from buildloop.patterns import Regex

HEAD = Regex(r"\s*\d+\) (?:Failure|Error):$|(?:Failure|Error):$|(?:Failure|Error): (?P<unit>test\S*\(\w+\))")
TEST = Regex(r"(?P<test>[\w:]+#\S+?)(?: \[(?P<file>[^\]:]+):(?P<line>\d+)\])?:?$")
FRAME = Regex(r"\s+(?P<file>[^\s:]+\.rb):(?P<line>\d+)(?::in |$)")
RAISED = Regex(r"(?P<type>[A-Z][\w:]*(?:Error|Exception|Timeout|Interrupt|Exit|Invalid\w*)): (?P<message>.*)")
FACT = Regex(r"\s*(?P<name>Expected|Actual|-|\+)(?::|(?=\S)) ?(?P<value>.*)$")
TALLY = Regex(
    r"(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors, (?:(\d+) pendings, )?(?:(\d+) "
    r"(?:skips|omissions))?"
)
END = Regex(r"\d+ (?:runs|tests), |(?:bin/)?rails test |rake aborted|Finished in |={10,}|-{10,}")


def parse(lines: Lines) -> ToolReport:
    found = list(_blocks(lines))
    return ToolReport(tuple(found), _counts(lines), unique([s.finding.test or "" for s in found]))


def _blocks(lines: Lines) -> Iterator[Sighting]:
    for start, end in blocks(lines, HEAD.match, END.match):
        yield from _block(lines, start, end)


def _block(lines: Lines, start: int, end: int) -> Iterator[Sighting]:
    head = HEAD.match(lines[start])
    test = next((m for text in lines[start + 1 : start + 3] if (m := TEST.match(text))), None)
    if not test and not (head and head["unit"]):
        return
    said = [text for text in lines[start + 1 : end] if text.strip() and not TEST.match(text)]
    raised = next((m for text in said if (m := RAISED.match(text))), None)
    frames = [Frame(m["file"], int(m["line"][:9])) for text in said if (m := FRAME.match(text))]
    frame = innermost(frames)
    if test and test["file"]:
        frame = Frame(test["file"], int(test["line"][:9]))
    facts = {m["name"]: m["value"].strip() for text in said if (m := FACT.match(text))}
    telling = [text for text in said if not FRAME.match(text)]
    place = next((text for text in said if frame and f"{frame.file}:{frame.line}" in text), "")
    yield Sighting(
        Finding(
            message=raised["message"] if raised else (telling or said or [lines[start]])[0].strip(),
            tool="minitest",
            test=test["test"] if test else head["unit"] if head else None,
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type=raised["type"] if raised else "Assertion",
            expected=facts.get("Expected") or facts.get("-"),
            actual=facts.get("Actual") or facts.get("+"),
            lines=unique(
                [
                    raised.string if raised else "",
                    *telling[:4],
                    test.string if test else "",
                    place,
                    *telling[4:7],
                ]
            ),
        ),
        start,
        end,
    )


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if " assertions, " in line and (match := TALLY.match(line)):
            run, failures, errors, pending, skips = (int(number or 0) for number in match.groups())
            found.append(tally(run - failures - errors - pending - skips, failures + errors, pending + skips))
    return added(found)
