"""ruff, flake8, pycodestyle, pydocstyle, bandit-as-flake8 and pylint."""

from __future__ import annotations

from dataclasses import replace

from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport
from buildloop.patterns import Regex

CONCISE = Regex(
    r"\s*(?P<file>[^\s:][^:]*\.(?:pyi?|ipynb|toml)):(?P<line>\d+):(?:(?:cell \d+:)?\d+:)? "
    r"(?:(?P<type>[A-Z]{1,4}\d{2,5})|(?P<type2>invalid-syntax|SyntaxError|E\d+|[a-z][a-z-]+))(?::|\s"
    r"|$) ?(?:\[\*\] )?(?P<message>.*)"
)
# ruff's full format: the rule first, the place on an arrow below.
FULL = Regex(
    r"(?:(?P<type>[A-Z]{1,4}\d{3,4})|(?P<type2>invalid-syntax|SyntaxError))(?::"
    r"|\s)\s*(?:\[\*\] )?(?P<message>\S.*)"
)
ARROW = Regex(r"\s*--> (?P<file>[^\s:][^:]*):(?P<line>\d+):\d+")
# Names that do not exist and code that cannot run come before layout and style.
GRAVE = Regex(
    r"F(?:5|6|7|82|83)\d*|E9\d*|E0\d{3}|E11\d\d|E06\d\d|PLE\d*|invalid-syntax|SyntaxError|syntax-error"
)
RUFF_FAILED = Regex(r"ruff failed$|error: (?:Failed to (?:parse|load|read)|TOML parse error)")
MAX_ARROW = 3


def parse(lines: Lines) -> ToolReport:
    concise = read_diagnostics(lines, "ruff", CONCISE).sightings
    full = [s for i in range(len(lines)) if (s := _full(lines, i))]
    return ToolReport((*_grave_first([*concise, *full]), *_failed(lines)))


def _full(lines: Lines, index: int) -> Sighting | None:
    head = FULL.match(lines[index])
    arrow = (
        next((m for line in lines[index + 1 : index + 1 + MAX_ARROW] if (m := ARROW.match(line))), None)
        if head
        else None
    )
    if not head or not arrow:
        return None
    [sighting] = read_diagnostics([lines[index]], "ruff", FULL).sightings
    end = index + 2
    while end < len(lines) and lines[end].strip() and end < index + 12:
        end += 1
    own = (lines[index], arrow.string)
    finding = replace(sighting.finding, file=arrow["file"], line=int(arrow["line"][:9]), lines=own)
    return Sighting(finding, index, end)


def _grave_first(found: list[Sighting]) -> list[Sighting]:
    if not any(GRAVE.fullmatch(s.finding.type or "") for s in found):
        return found
    return [s if GRAVE.fullmatch(s.finding.type or "") else replace(s, rank=Rank.HINT) for s in found]


def _failed(lines: Lines) -> list[Sighting]:
    """ruff that cannot read its own configuration prints a chain of causes, the telling one last."""
    found = []
    for index, line in enumerate(lines):
        if RUFF_FAILED.match(line):
            end = next((i for i in range(index + 1, len(lines)) if not lines[i].strip()), len(lines))
            said = [text for text in lines[index:end] if text.strip(" |^")]
            [sighting] = read_diagnostics([said[-1]], "ruff", Regex(r"(?P<message>.*)")).sightings
            finding = replace(sighting.finding, type="config", lines=tuple(said[::-1]))
            found.append(Sighting(finding, index, end))
            break
    return found
