"""javac, kotlinc, scalac and groovyc, bare or through Maven, Gradle, sbt and ant."""

from __future__ import annotations

from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.report import Lines, ToolReport
from buildloop.patterns import Regex

# Foo.java:3: error: …   [ERROR] /a/Foo.java:[3,7] …   e: /a/Foo.kt: (3, 7): …   [error] Foo.scala:3: …
DIAGNOSTIC = Regex(
    r"\s*(?P<marked>(?:\[(?:ERROR|error|javac|exec|groovyc)\]\s*|e: |error: )*)"
    r"(?:file://)?(?P<file>[^\s:\[(][^:\[(]*\.(?:java|kts?|scala|groovy|sc)):\s?[\[(]?(?P<line>\d+)"
    r"(?:(?:, ?\d+)?[\])]|:\d+)?:?\s+(?P<message>\S.*)"
)
SCALA3 = Regex(
    r"(?:\[error\] )?-- (?:\[(?P<type>E\d+)\] )?(?P<message>[\w ]*Error): (?P<file>\S+?):(?P<line>\d+):\d+"
)
FOLLOW = Regex(r"(?:\[\w+\])?\s+(?:\^|symbol|location|required|found|reason)\s*:")
SAYS_ERROR = Regex(r"\[(?:ERROR|error|javac|groovyc)\]|e: |error: ")


def parse(lines: Lines) -> ToolReport:
    report = read_diagnostics(lines, "javac", DIAGNOSTIC, follows=FOLLOW)
    marked = tuple(s for s in report.sightings if SAYS_ERROR.search(s.finding.lines[0]))
    return ToolReport((*marked, *read_diagnostics(lines, "javac", SCALA3).sightings))
