"""make, ninja and just: a missing command or rule is a cause, a failed recipe is the echo of one."""

from __future__ import annotations

import re
from dataclasses import replace

from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport
from buildloop.patterns import Regex

SAID = Regex(
    r"(?:g?make(?:\[\d+\])?|ninja|just|bmake): (?P<message>.*)"
    r"|(?P<file>[\w./-]*(?:[Mm]akefile|\.mk)\S*):(?P<line>\d+): \*\*\* .*"
    r"|FAILED: \S.*|error: Recipe `.*"
)
CHATTER = Regex(
    r"\S+: (?:Entering|Leaving) directory|\S+: (?:Nothing to be done|warning|.* is up to date)|\S+: Circular"
)
ECHO = Regex(
    r"(?:\S+: (?:\*\*\* )?\[|ninja: build stopped|FAILED: |\S+: Target .* not remade|error: Recipe "
    r"|\S+: \*\*\* Wait)"
)
# A signal is news: nothing else in the log may tell that the program crashed.
SIGNAL = Regex(
    r"\S+: \*\*\* \[.*\] (?:Segmentation fault|Killed|Aborted|Bus error|Illegal|Floating|Terminated)"
)


def _rank(found: re.Match[str]) -> Rank:
    if SIGNAL.match(found.string):
        return Rank.HINT
    return Rank.CASCADE if ECHO.match(found.string) else Rank.CAUSE


def parse(lines: Lines) -> ToolReport:
    spoken = ["" if CHATTER.match(line) else line for line in lines]
    report = read_diagnostics(spoken, "make", SAID, rank=_rank)
    return ToolReport(tuple(_crash(sighting) for sighting in report.sightings))


def _crash(sighting: Sighting) -> Sighting:
    if sighting.rank is not Rank.HINT:
        return sighting
    return replace(sighting, finding=replace(sighting.finding, tool="shell", type="Signal"))
