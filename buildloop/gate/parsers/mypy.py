"""mypy, pyright, pytype and pyre: `file:line: error: message  [code]`."""

from __future__ import annotations

from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.report import Lines, ToolReport
from buildloop.patterns import Regex

DIAGNOSTIC = Regex(
    r"\s*(?P<file>[^\s:][^:]*\.pyi?):(?P<line>\d+):(?:\d+:)?(?:\d+:\d+:)?(?:\d+ -)? error: "
    r"(?P<message>.*?)(?:\s+[\[(](?P<type>[\w-]+)[\])])?$"
)
NOTE = Regex(r"\S+?:\d+: note: (?!See https)|    +\S")


def parse(lines: Lines) -> ToolReport:
    return read_diagnostics(lines, "mypy", DIAGNOSTIC, follows=NOTE, follow_limit=2)
