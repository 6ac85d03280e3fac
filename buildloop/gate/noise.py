"""Lines that the last green log also had are not why this one is red.

Two lines are alike when their templates are: the text with everything volatile masked, as Drain masks before
it compares. A template is exact, so nothing is merged that a person would tell apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from buildloop.diagnosis.model import LogReading
from buildloop.gate.clean import clean_lines
from buildloop.gate.skim import skim
from buildloop.patterns import Regex

MAX_TEMPLATES = 200_000

# Order matters: what holds digits goes before the bare number.
MASKS: tuple[tuple[str, Regex], ...] = (
    ("<id>", Regex(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)),
    ("<addr>", Regex(r"\b0x[0-9a-fA-F]+\b")),
    ("<hash>", Regex(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b")),
    ("<path>", Regex(r"(?:/(?:tmp|var|private|home|Users|runner|builds)/)[\w./+-]*")),
    ("<n>", Regex(r"\d+(?:[.,:]\d+)*")),
)


def template(line: str) -> str:
    """What stays the same when a program says the same thing again."""
    for name, mask in MASKS:
        line = mask.sub(name, line)
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
