"""ESLint and what prints like it (stylelint, yamllint): a file, then rows of `line:column  severity`."""

from __future__ import annotations

import re

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import tidy
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique
from buildloop.patterns import Regex

FILE = Regex(r"(?P<file>(?:[A-Za-z]:)?[\w@./\\+-]*\.\w{1,8})$")
PROBLEM = Regex(
    r"\s+(?P<line>\d+):\d+\s+(?P<severity>error|warning|✖|⚠"
    r"|×)\s+(?P<message>\S.*?)(?:\s{2,}(?P<rule>[\w@/-]+))?$"
)
UNIX = Regex(
    r"(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?P<message>.*) \[(?P<severity>Error"
    r"|Warning)(?:/(?P<rule>[\w@/-]+))?\]$"
)
# A wrong name breaks the program, an unused one does not.
GRAVE = Regex(r"no-undef|no-unresolved|no-redeclare|no-dupe|no-unreachable|no-const-assign|Parsing error")


def parse(lines: Lines) -> ToolReport:
    file, found = None, []
    for index, line in enumerate(lines):
        if named := FILE.match(line):
            file = (named["file"], line)
        elif (problem := PROBLEM.match(line)) and file:
            found.append(_sighting(index, problem, file[0], (line, file[1])))
        elif "[" in line and (problem := UNIX.match(line)):
            found.append(_sighting(index, problem, problem["file"], (line,)))
    if any(s.rank is Rank.CAUSE for s in found):
        found = [s for s in found if s.rank is Rank.CAUSE]
    grave = [s for s in found if GRAVE.search(s.finding.lines[0])]
    return ToolReport(tuple(grave) + tuple(_after(s, grave) for s in found if s not in grave))


def _sighting(index: int, problem: re.Match[str], file: str, lines: tuple[str, ...]) -> Sighting:
    finding = Finding(
        message=problem["message"].strip(),
        tool="eslint",
        file=tidy(file),
        line=int(problem["line"][:9]),
        type=problem["rule"],
        lines=unique(lines),
    )
    mild = problem["severity"].lower() in ("warning", "⚠")
    return Sighting(finding, index, index + 1, Rank.HINT if mild else Rank.CAUSE)


def _after(sighting: Sighting, grave: list[Sighting]) -> Sighting:
    """Keeps a style problem behind the grave ones without making it less of a cause."""
    if not grave:
        return sighting
    behind = max(sighting.at, grave[-1].at)
    return Sighting(sighting.finding, behind, max(behind + 1, sighting.until), sighting.rank)
