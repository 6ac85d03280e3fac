"""docker build and buildx: a failed step names a line of the Dockerfile; its output says why."""

from __future__ import annotations

import re

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique
from buildloop.patterns import Regex

FAILED = Regex(
    r"(?:ERROR: )?failed to (?:solve|build)(?: with frontend \S+)?: (?P<message>.*)"
    r"|The command '.*' returned a non-zero code: \d+"
)
PLACE = Regex(r"(?P<file>[\w./-]*Dockerfile[\w.-]*):(?P<line>\d+)$")
PARSED = Regex(r"dockerfile parse error(?: on)? line (?P<line>\d+)|Dockerfile:(?P<line2>\d+)", re.IGNORECASE)
STEP_FAILED = Regex(r".*did not complete successfully|The command ")
POINTED = Regex(r"\s*\d+ \| >>> ")


def parse(lines: Lines) -> ToolReport:
    sightings = []
    for index, line in enumerate(lines):
        failed = FAILED.match(line)
        if not failed:
            continue
        near = lines[max(0, index - 20) : index]
        place = next((m for text in reversed(near) if (m := PLACE.match(text))), None)
        parsed = PARSED.search(line)
        number = (place["line"] if place else None) or (parsed["line"] or parsed["line2"] if parsed else None)
        file = place["file"] if place else "Dockerfile" if parsed else None
        pointed = [text for text in near if POINTED.match(text)]
        finding = Finding(
            message=failed["message"] or line,
            tool="docker build",
            file=file,
            line=int(number[:9]) if number else None,
            type="SyntaxError" if parsed and "parse error" in line else None,
            lines=unique([line, *pointed[-1:], place.string if place else ""]),
        )
        sightings.append(
            Sighting(finding, index, index + 1, Rank.CASCADE if STEP_FAILED.match(line) else Rank.CAUSE)
        )
    return ToolReport(tuple(sightings))
