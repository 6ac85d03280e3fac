"""XCTest, as `swift test` and xcodebuild print it."""

from __future__ import annotations

from dataclasses import replace

from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.report import Lines, ToolReport, unique
from buildloop.patterns import Regex

FAILED = Regex(
    r"(?P<file>[^\s:][^:]*\.\w+):(?P<line>\d+):(?:\d+:)? error: (?:-\[(?P<suite>[\w.]+) (?P<case>\w+)\]"
    r"|(?P<test>[\w.]+)) : (?P<message>.*)"
)
COMPARED = Regex(r"\(\"(?P<actual>.*?)\"\) is not equal to \(\"(?P<expected>.*?)\"\)")


def parse(lines: Lines) -> ToolReport:
    sightings = []
    for sighting in read_diagnostics(lines, "xctest", FAILED).sightings:
        found = FAILED.match(sighting.finding.lines[0])
        compared = COMPARED.search(sighting.finding.message)
        finding = replace(
            sighting.finding,
            test=(found["test"] or f"{found['suite']}/{found['case']}") if found else None,
            type="XCTAssert" if "XCTAssert" in sighting.finding.message else None,
            expected=compared["expected"] if compared else None,
            actual=compared["actual"] if compared else None,
        )
        sightings.append(replace(sighting, finding=finding))
    return ToolReport(tuple(sightings), failing=unique([s.finding.test or "" for s in sightings]))
