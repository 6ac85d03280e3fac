"""mypy, pyright, pytype and pyre: `file:line: error: message  [code]`."""

from __future__ import annotations

import re

from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.report import Lines, ToolReport

DIAGNOSTIC = re.compile(
    r"\s*(?P<file>[^\s:][^:]*\.pyi?):(?P<line>\d+):(?:\d+:)?(?:\d+:\d+:)?(?:\d+ -)? error: "
    r"(?P<message>.*?)(?:\s+[\[(](?P<type>[\w-]+)[\])])?$"
)
NOTE = re.compile(r"\S+?:\d+: note: (?!See https)|    +\S")


def parse(lines: Lines) -> ToolReport:
    return read_diagnostics(lines, "mypy", DIAGNOSTIC, follows=NOTE, follow_limit=2)
