"""The TypeScript compiler, plain and pretty, also inside Jest, Vite, Angular and fork-ts-checker."""

from __future__ import annotations

from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.report import Lines, ToolReport
from buildloop.patterns import Regex

DIAGNOSTIC = Regex(
    r"\s*(?:\[!\] (?:\([^)]*\) )?)?(?:Error: |ERROR |✘ \[ERROR\] |ERROR in )?"
    r"(?:(?P<file>[^\s(:][^(:]*)[(:](?P<line>\d+)[,:]\d+\)?(?: -|:) )?error (?P<type>TS\d+): (?P<message>.*)"
)
EXPLANATION = Regex(r"\s{2,}\S")


def parse(lines: Lines) -> ToolReport:
    return read_diagnostics(lines, "tsc", DIAGNOSTIC, follows=EXPLANATION, follow_limit=3)
