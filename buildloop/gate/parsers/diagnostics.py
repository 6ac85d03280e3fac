"""One shape for the many compilers, checkers and linters that print one diagnostic a line."""

from __future__ import annotations

import re
from collections.abc import Callable

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import tidy
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport
from buildloop.patterns import Regex

MAX_FINDINGS = 200  # a compiler that prints thousands of errors has one cause


def finding_of(found: re.Match[str], tool: str, lines: tuple[str, ...]) -> Finding:
    """The named groups become fields: file, line, type (or type2), message, expected, actual."""
    facts = found.groupdict()
    file, line = facts.get("file"), facts.get("line") or facts.get("line2")
    return Finding(
        message=(facts.get("message") or lines[min(1, len(lines) - 1)]).strip(),
        tool=tool,
        file=tidy(file) if file else None,
        line=int(line) if line and len(line) < 9 else None,
        type=facts.get("type") or facts.get("type2") or None,
        expected=facts.get("expected"),
        actual=facts.get("actual"),
        lines=lines,
    )


def read_diagnostics(
    lines: Lines,
    tool: str,
    pattern: Regex,
    *,
    follows: Regex | None = None,
    follow_limit: int = 4,
    rank: Callable[[re.Match[str]], Rank] = lambda _: Rank.CAUSE,
) -> ToolReport:
    """Every line that begins like `pattern`, with the lines after it that begin like `follows`."""
    sightings: list[Sighting] = []
    index = 0
    while index < len(lines) and len(sightings) < MAX_FINDINGS:
        found = pattern.match(lines[index])
        end = index + 1
        if found:
            if follows:
                while end < len(lines) and end <= index + follow_limit and follows.match(lines[end]):
                    end += 1
            own = tuple(line for line in lines[index:end] if line.strip())
            sightings.append(Sighting(finding_of(found, tool, own), index, end, rank(found)))
        index = end
    return ToolReport(tuple(sightings))
