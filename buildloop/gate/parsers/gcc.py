"""gcc, clang, ld and their relatives (nvcc, swiftc, ghc): `file:line:col: error: message`."""

from __future__ import annotations

from dataclasses import replace

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.frames import is_foreign
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport
from buildloop.patterns import Regex

DIAGNOSTIC = Regex(
    r"\s*(?:e: |\[error\] |\[ERROR\] )?(?P<file>(?:[A-Za-z]:)?[^\s:*][^:*]*\.\w{1,8}):(?P<line>\d+):(?:\d+"
    r":)? "
    r"(?:internal compiler |fatal |Fatal )?[eE]rror:(?: \[[A-Z]+-\d+\])?(?:\s+(?P<message>.*?))?(?: "
    r"\[(?P<type>-W[\w=+-]+)\])?$"
)
MSVC = Regex(
    r"\s*(?:(?P<file>[^\s(][^(]*)\((?P<line>\d+)(?:,\d+)?\)|LINK|\S+\.(?:obj"
    r"|lib))\s?: (?:fatal )?error (?P<type>[A-Z]+\d+): "
    r"(?P<message>.*)"
)
LINKER = Regex(
    r"(?:(?:/\S*/)?(?:ld|lld|ld\.lld|ld\.gold|collect2|clang|clang\+\+"
    r"|rust-lld)(?:-\d+)?(?:\.exe)?: (?:error: )?(?!warning)(?P<message>\S.*)"
    r"|(?P<file>\S+):(?:\(\.\w+\S*\)|(?P<line>\d+)): (?:multiple definition|undefined reference).*"
    r"|Undefined symbols for architecture.*|  \"\S+\", referenced from:)"
)
LINK_CONSEQUENCE = Regex(r"(?:collect2|clang(?:\+\+)?): error: (?:ld returned|linker command failed)")
FOLLOW = Regex(r"\s+\d* \||\s+(?:symbol|location|required|found|reason|note)\b|\s*\^|\s+•")

USER = Regex(
    r"(?P<file>[\w./+-]+\.\w{1,5}):(?P<line>\d+)(?::\d+)?(?::\s+(?:required|instantiated) from|[:,]$)"
)


def parse(lines: Lines) -> ToolReport:
    found = read_diagnostics(lines, "gcc", DIAGNOSTIC, follows=FOLLOW, follow_limit=2).sightings
    compiled = tuple(_instantiated(lines, sighting) for sighting in found)
    microsoft = read_diagnostics(lines, "msvc", MSVC).sightings
    return ToolReport((*compiled, *microsoft, *_linked(lines)))


def _instantiated(lines: Lines, sighting: Sighting) -> Sighting:
    """An error inside a library's template or header was caused where the project uses it."""
    finding = sighting.finding
    if not finding.file or not is_foreign(finding.file):
        return sighting
    for text in reversed(lines[max(0, sighting.at - 12) : sighting.at]):
        user = USER.search(text)
        if user and not is_foreign(user["file"]):
            own = replace(
                finding,
                file=user["file"],
                line=int(user["line"][:9]),
                lines=(*finding.lines[:1], text, *finding.lines[1:]),
            )
            return replace(sighting, finding=own)
    return sighting


def _linked(lines: Lines) -> list[Sighting]:
    found = []
    for index, line in enumerate(lines):
        match = LINKER.match(line)
        if not match or line.endswith(": in function"):
            continue
        consequence = LINK_CONSEQUENCE.match(line) is not None
        if not consequence and (": in function" in line or "warning:" in line):
            continue
        finding = Finding(line.strip(), "ld", type="linker", lines=(line,))
        found.append(Sighting(finding, index, index + 1, Rank.CASCADE if consequence else Rank.CAUSE))
    return found
