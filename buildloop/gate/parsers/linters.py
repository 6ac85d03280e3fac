"""Linters and formatters that print a line or two for each problem, of many languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.anywhere import place_in
from buildloop.gate.parsers.frames import tidy
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique
from buildloop.gate.parsers.said import read_sentences, sentences
from buildloop.patterns import Regex

TABLE = sentences(
    ("bandit", "lint", r">> Issue: (?:\[(?P<type>\w+):[^\]]*\] )?(?P<message>.*)", Rank.CAUSE, 3),
    (
        "annotation",
        "lint",
        r"::error (?:.*?file=(?P<file>[^,:]+))?(?:,line=(?P<line>\d+))?.*?::(?P<message>.*)",
    ),
    ("coverage", "coverage", r"(?P<message>.*coverage (?:threshold|of \d).*not (?:met|reached).*)"),
    ("pre-commit", "hook", r"(?P<message>[\w ,.()-]+?)\.{5,}Failed$", Rank.HINT, 3),
    ("prettier", "format", r"\[warn\] (?P<file>\S+\.\w+)$"),
    (
        "prettier",
        "SyntaxError",
        r"\[error\] (?P<file>\S+?\.\w+): SyntaxError: (?P<message>.*) \((?P<line>\d+):\d+\)",
    ),
    ("prettier", "format", r"\[warn\] Code style issues.*", Rank.HINT),
    ("black", "format", r"would reformat (?P<file>\S+)"),
    ("black", "SyntaxError", r"error: cannot format (?P<file>[^:]+): (?P<message>.*)"),
    ("isort", "format", r"ERROR: (?P<file>\S+\.py) (?P<message>Imports are incorrectly sorted.*)"),
    ("ruff", "format", r"(?P<message>\d+ files? would be (?:re)?formatted.*)", Rank.HINT),
    ("ruff", "format", r"Would reformat: (?P<file>\S+)"),
    ("rustfmt", "format", r"Diff in (?P<file>\S+?)(?::(?P<line>\d+):?| at line (?P<line2>\d+):)$"),
    (
        "rubocop",
        "lint",
        r"(?P<file>[^\s:]+\.(?:rb|rake|gemspec)):(?P<line>\d+):\d+: (?:[EF]): (?:\[\w+\] "
        r")?(?:(?P<type>[\w/]+): )?(?P<message>.*)",
    ),
    (
        "rubocop",
        "lint",
        r"(?P<file>[^\s:]+\.(?:rb|rake|gemspec)):(?P<line>\d+):\d+: (?:[CWR]): (?:\[\w+\] "
        r")?(?:(?P<type>[\w/]+): )?(?P<message>.*)",
        Rank.HINT,
    ),
    ("psalm", "lint", r"ERROR: (?P<type>\w+) - (?P<file>\S+?):(?P<line>\d+):\d+ - (?P<message>.*)"),
    ("ktlint", "lint", r"(?P<file>\S+\.kts?):(?P<line>\d+):\d+: (?P<message>.* \((?P<type>[\w:-]+)\))$"),
    (
        "hadolint",
        "lint",
        r"(?P<file>\S*Dockerfile\S*):(?P<line>\d+)(?: (?P<type>DL\d+|SC\d+))(?: (?:error|warning"
        r"|info))?: (?P<message>.*)",
    ),
    (
        "markdownlint",
        "lint",
        r"(?P<file>\S+\.md):(?P<line>\d+)(?::\d+)? (?:error )?(?P<type>MD\d+\S*) (?P<message>.*)",
    ),
    ("luacheck", "lint", r"\s+(?P<file>\S+\.lua):(?P<line>\d+):\d+: (?P<message>.*)"),
    ("biome", "lint", r"(?P<file>\S+\.\w+):(?P<line>\d+):\d+ (?P<type>(?:lint|parse|assist)\S*)"),
    (
        "lint",
        "lint",
        r"(?P<file>[^\s:]+\.\w+):(?P<line>\d+):\d+: (?:\((?P<type>[EW]\d+)\)"
        r"|\[(?P<type2>[\w-]+)\]) (?P<message>.*)",
    ),
)
SHELLCHECK = Regex(r"In (?P<file>\S+) line (?P<line>\d+):$")
SC_NOTE = Regex(r"\s*\^-*\^?-*.*?(?P<type>SC\d+) \((?P<severity>\w+)\): (?P<message>.*)")
PHPSTAN_FILE = Regex(r"\s+Line\s+(?P<file>\S+\.php)\b")
PHPSTAN_ROW = Regex(r"\s+(?:(?P<line>\d+)|:\d+)\s{2,}(?P<message>\S.*)$")
PHPCS_FILE = Regex(r"FILE: (?P<file>\S+)")
PHPCS_ROW = Regex(r"\s+(?P<line>\d+) \| (?P<severity>ERROR|WARNING) \| (?:\[[x ]\] )?(?P<message>.*)")
ELM = Regex(r"-- (?P<type>[A-Z][A-Z ]+) -+ (?P<file>\S+\.elm)(?::(?P<line>\d+):\d+)?$")


def parse(lines: Lines) -> ToolReport:
    told = [_placed_below(sighting) for sighting in read_sentences(lines, TABLE).sightings]
    return ToolReport((*told, *_shellcheck(lines), *_tables(lines), *_elm(lines)))


def _placed_below(sighting: Sighting) -> Sighting:
    """Some name the place on a line of its own, under the problem."""
    finding = sighting.finding
    frame = next((frame for text in finding.lines[1:] if (frame := place_in(text))), None)
    if finding.file or not frame:
        return sighting
    return replace(sighting, finding=replace(finding, file=frame.file, line=frame.line))


def _shellcheck(lines: Lines) -> Iterator[Sighting]:
    place: re.Match[str] | None = None
    for index, line in enumerate(lines):
        if line.startswith("In ") and (found := SHELLCHECK.match(line)):
            place = found
        elif place and "SC" in line and (note := SC_NOTE.match(line)):
            finding = Finding(
                note["message"],
                "shellcheck",
                file=place["file"],
                line=int(place["line"][:9]),
                type=note["type"],
                lines=(line, place.string),
            )
            yield Sighting(finding, index, index + 1)


def _tables(lines: Lines) -> Iterator[Sighting]:
    """PHPStan and PHP_CodeSniffer: a file, then rows of line numbers and messages."""
    file, row = None, PHPSTAN_ROW
    for index, line in enumerate(lines):
        if named := PHPSTAN_FILE.match(line):
            file, row = named, PHPSTAN_ROW
        elif named := PHPCS_FILE.match(line):
            file, row = named, PHPCS_ROW
        elif file and (problem := row.match(line)):
            number = int(problem["line"][:9]) if problem["line"] else None
            finding = Finding(
                problem["message"],
                "phpstan",
                file=tidy(file["file"]),
                line=number,
                type="lint",
                lines=unique([line, file.string]),
            )
            mild = problem.groupdict().get("severity") == "WARNING"
            yield Sighting(finding, index, index + 1, Rank.HINT if mild else Rank.CAUSE)


def _elm(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if line.startswith("-- ") and (head := ELM.match(line)):
            said = [text for text in lines[index + 1 : index + 12] if text.strip()]
            number = next(
                (re.match(r"\s*(\d+)\|", text) for text in said if re.match(r"\s*\d+\|", text)), None
            )
            finding = Finding(
                (said or [line])[0].strip(),
                "elm",
                file=head["file"],
                type=head["type"],
                lines=(line, *said[:5]),
            )
            yield Sighting(replace(finding, line=int(number[1][:9]) if number else None), index, index + 1)
