"""Lines that the last green log also had are not why this one is red.

Two lines are alike when their templates are: the text with everything volatile masked, as Drain masks before
it compares. A template is exact, so nothing is merged that a person would tell apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from buildloop.diagnosis.masks import ADDRESS, HASH, UUID, Mask
from buildloop.diagnosis.model import LogReading
from buildloop.gate.clean import clean_lines
from buildloop.gate.skim import skim
from buildloop.patterns import Regex

MAX_TEMPLATES = 200_000

# A fingerprint keeps names of files and numbers that matter; whoever says the same thing again may use others.
PATH = Regex(r"/(?:tmp|var|private|home|Users|runner|builds)/[\w./+-]*"), "<path>"
NUMBER = Regex(r"\d+(?:[.,:]\d+)*"), "<n>"
MASKS: tuple[Mask, ...] = (UUID, ADDRESS, PATH, HASH, NUMBER)


def template(line: str) -> str:
    """What stays the same when a program says the same thing again."""
    for pattern, replacement in MASKS:
        line = pattern.sub(replacement, line)
    return " ".join(line.split())


def templates_of(lines: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for line in lines:
        if len(found) >= MAX_TEMPLATES:
            break
        found.add(template(line))
    found.discard("")
    return frozenset(found)


def templates_of_log(path: Path) -> frozenset[str]:
    """The templates of a green log; of a huge one, those of the parts that look like trouble."""
    with path.open("rb") as stream:
        return templates_of(clean_lines(skim(stream).decode("utf-8", "replace")))


def without_noise(reading: LogReading, green: frozenset[str]) -> LogReading:
    """The reading without what was said when all was well; never without everything."""

    def news(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(line for line in lines if template(line) not in green)

    findings = tuple(
        replace(finding, lines=kept)
        for finding in reading.findings
        if (kept := news(finding.lines)) or finding.test
    )
    error_lines = news(reading.error_lines)
    if not error_lines:
        return reading
    return replace(reading, findings=findings or reading.findings, error_lines=error_lines)
