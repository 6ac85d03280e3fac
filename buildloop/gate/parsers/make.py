"""make, ninja and just: a missing command or rule is a cause, a failed recipe is the echo of one."""

from __future__ import annotations

import re

from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.report import Lines, Rank, ToolReport

SAID = re.compile(
    r"(?:g?make(?:\[\d+\])?|ninja|just|bmake): (?P<message>(?:\*\*\* )?(?P<type>No rule to make target"
    r"|No targets|\S+: No such file or directory|\S+: Command not found|\S+: Permission denied"
    r"|missing separator|\[|build stopped|error: )?.*)"
    r"|(?P<file>[\w./-]*(?:[Mm]akefile|\.mk)\S*):(?P<line>\d+): \*\*\* (?P<message2>.*)"
    r"|FAILED: \S.*|error: Recipe `.*"
)
CHATTER = re.compile(
    r"\S+: (?:Entering|Leaving) directory|\S+: (?:Nothing to be done|warning|.* is up to date)"
    r"|ninja: Entering|\S+: Circular"
)
ECHO = re.compile(
    r"(?:\S+: (?:\*\*\* )?\[|ninja: build stopped|FAILED: |\S+: Target .* not remade|error: Recipe "
    r"|\S+: \*\*\* Waiting)"
)


def _rank(found: re.Match[str]) -> Rank:
    return Rank.CASCADE if ECHO.match(found.string) else Rank.CAUSE


def parse(lines: Lines) -> ToolReport:
    spoken = ["" if CHATTER.match(line) else line for line in lines]
    return read_diagnostics(spoken, "make", SAID, rank=_rank)
