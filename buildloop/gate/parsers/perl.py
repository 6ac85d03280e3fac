"""Perl: Test::More's diagnostics, prove's summary, and `message at FILE line N.`"""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.frames import is_foreign
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex

FAILED = Regex(r"\s*#\s+Failed (?:\(TODO\) )?test(?: '(?P<name>.*)'?)?$")
PLACE = Regex(r"\s*#\s+(?:in '.*' )?at (?P<file>\S+) line (?P<line>\d+)\.")
FACT = Regex(r"\s*#\s+(?P<name>got|expected): (?P<value>.*)$")
DIED = Regex(
    r"(?:#\s+(?:Error:\s+)?)?(?:\S+\.t \.+ (?:\d+/\d+ )?)?(?P<message>\S.*?) at (?P<file>[\w./-]+\.(?:t|pl"
    r"|pm|PL)|-e) line (?P<line>\d+)(?:\.|, (?:near|at|<).*)?$"
)
SUMMARY = Regex(r"(?P<file>\S+\.t)\s+\(Wstat: .*Failed: [1-9]")
TALLY = Regex(r"Files=\d+, Tests=(?P<run>\d+),")
SUBTESTS = Regex(r"Failed (?P<failed>\d+)/\d+ subtests")
NEAR = Regex(
    r"syntax error|Global symbol|Bareword|Can't locate|Can't find|Compilation failed|BEGIN failed"
    r"|Undefined subroutine"
)
ECHO = Regex(
    r"(?:#\s*)?(?:Compilation failed in require|BEGIN failed--compilation aborted|Execution of \S+ aborted"
    r"|# Looks like)"
)


def parse(lines: Lines) -> ToolReport:
    failed = list(_failed(lines))
    died = list(_died(lines, {i for s in failed for i in range(s.at, s.until)}))
    files = [m["file"] for line in lines if "Wstat" in line and (m := SUMMARY.match(line))]
    return ToolReport((*failed, *died), _counts(lines), unique(files))


def _failed(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        failed = FAILED.match(line) if "Failed test" in line else None
        if not failed:
            continue
        end = index + 1
        while (
            end < len(lines)
            and lines[end].lstrip().startswith("#")
            and not FAILED.match(lines[end])
            and end < index + 60
        ):
            if lines[end].lstrip().startswith("# Looks like"):
                break
            end += 1
        block = lines[index:end]
        place = next((m for text in block if (m := PLACE.match(text))), None)
        facts = {m["name"]: m["value"] for text in block if (m := FACT.match(text))}
        cause = next((m for text in block if "Error:" in text and (m := DIED.match(text.lstrip()))), None)
        if cause:
            place = cause
        told = [text for text in block if FACT.match(text)]
        other = [
            text for text in block[1:] if text not in told and not PLACE.match(text) and text.strip("# ")
        ]
        finding = Finding(
            message=cause["message"]
            if cause
            else (other or [line])[0].strip("# ")
            if not told
            else line.strip("# "),
            tool="test more",
            test=(failed["name"] or "").rstrip("'") or None,
            file=place["file"] if place else None,
            line=int(place["line"][:9]) if place else None,
            expected=facts.get("expected"),
            actual=facts.get("got"),
            lines=unique(
                [
                    cause.string if cause else "",
                    *told,
                    line,
                    *(text for text in block if PLACE.match(text)),
                    *other[:6],
                ]
            ),
        )
        yield Sighting(finding, index, end)


def _died(lines: Lines, claimed: set[int]) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if index in claimed or " line " not in line:
            continue
        died = DIED.match(line)
        if not died:
            continue
        rank = Rank.CASCADE if ECHO.match(line) else Rank.CAUSE if NEAR.search(line) else Rank.HINT
        own = died["file"] if not is_foreign(died["file"]) else None
        finding = Finding(
            died["message"],
            "perl",
            file=own,
            line=int(died["line"][:9]) if own else None,
            type="die",
            lines=(line,),
        )
        yield Sighting(finding, index, index + 1, rank)


def _counts(lines: Lines) -> TestCounts | None:
    found, failed = [], 0
    for line in lines:
        if "subtests" in line and (match := SUBTESTS.match(line)):
            failed += int(match["failed"])
        elif line.startswith("Files=") and (match := TALLY.match(line)):
            found.append(tally(max(0, int(match["run"]) - failed), failed))
            failed = 0
    return added(found)
