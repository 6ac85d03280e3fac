"""go build, vet, mod and golangci-lint: `file.go:line:col: message`, and what the go command says itself."""

from __future__ import annotations

import re

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport
from buildloop.patterns import Regex

PLACED = Regex(
    r"(?:vet: |# )?(?P<file>(?:\.{0,2}/)?[^\s:]+\.go):(?P<line>\d+):(?P<column>\d+:)? (?P<message>\S.*)"
)
FOLLOW = Regex(r"\t(?!/)\S|\s+(?:have|want) \(")
MODULE = Regex(
    r"(?:go: (?!downloading|finding|extracting|added|upgraded|creating|found|to add|trying)\S.*"
    r"|go: .*(?:missing go\.sum|unknown revision).*"
    r"|verifying .*: checksum mismatch.*|missing go\.sum entry.*|cannot find module providing.*"
    r"|build .*: cannot find.*"
    r"|no required module provides.*|package .* is not in (?:GOROOT|std).*|import cycle not allowed.*"
    r"|.*: build constraints exclude all Go files.*"
    r"|/\S+/link: running \S+ failed.*)$"
)
SETUP = Regex(r"FAIL\t(?P<package>\S+) \[(?:build|setup) failed\]")


def _rank(found: re.Match[str]) -> Rank:
    """The compiler gives a column; a line without one may as well be what a program logged."""
    return Rank.CAUSE if found["column"] else Rank.WEAK


def parse(lines: Lines) -> ToolReport:
    placed = read_diagnostics(lines, "go", PLACED, follows=FOLLOW, follow_limit=2, rank=_rank).sightings
    own = [s for s in placed if not s.finding.lines[0].startswith((" ", "\t"))]
    module = [
        Sighting(Finding(line.strip(), "go mod", type="module", lines=(line, *_hint(lines, i))), i, i + 1)
        for i, line in enumerate(lines)
        if MODULE.match(line)
    ]
    failed = [
        Sighting(Finding(line.strip(), "go", lines=(line,)), i, i + 1, Rank.CASCADE)
        for i, line in enumerate(lines)
        if line.startswith("FAIL\t") and SETUP.match(line)
    ]
    return ToolReport((*own, *module, *failed))


def _hint(lines: Lines, index: int) -> tuple[str, ...]:
    return tuple(line for line in lines[index + 1 : index + 4] if line.startswith("\t"))
