"""Terraform, OpenTofu and packer: boxed diagnostics."""

from __future__ import annotations

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, unique
from buildloop.patterns import Regex

HEAD = Regex(r"[│|]\s*Error: (?P<message>.*)$")
PLACE = Regex(r"[│|]\s*on (?P<file>\S+) line (?P<line>\d+)")
BOX = Regex(r"[│|]")


def parse(lines: Lines) -> ToolReport:
    sightings = []
    for index, line in enumerate(lines):
        head = HEAD.match(line)
        if not head:
            continue
        end = index + 1
        while end < len(lines) and BOX.match(lines[end]) and not HEAD.match(lines[end]):
            end += 1
        said = [text for text in lines[index + 1 : end] if text.strip("│| ")]
        place = next((m for text in said if (m := PLACE.match(text))), None)
        finding = Finding(
            message=head["message"],
            tool="terraform",
            file=place["file"] if place else None,
            line=int(place["line"][:9]) if place else None,
            lines=unique([line, *said[:6]]),
        )
        sightings.append(Sighting(finding, index, end))
    return ToolReport(tuple(sightings))
