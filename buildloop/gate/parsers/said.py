"""Tools that say what is wrong in one line: a table of sentences, each with what kind of trouble it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from buildloop.gate.parsers.diagnostics import MAX_FINDINGS, finding_of
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport
from buildloop.patterns import Regex


class Sentence(NamedTuple):
    """`pattern` is matched from the start of a line; its named groups become the finding's fields."""

    tool: str
    type: str
    pattern: Regex
    rank: Rank = Rank.CAUSE
    follow: int = 0  # indented or bulleted lines after it that belong to it


FOLLOWING = Regex(r"(?:\[\w+\]\s{2,}|[\s│|╰─▶╭·•*-]+)\S")


def sentences(
    *rows: tuple[str, str, str] | tuple[str, str, str, Rank] | tuple[str, str, str, Rank, int],
) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(
            row[0],
            row[1],
            Regex(row[2]),
            row[3] if len(row) > 3 else Rank.CAUSE,
            row[4] if len(row) > 4 else 0,
        )
        for row in rows
    )


def read_sentences(lines: Lines, table: Iterable[Sentence]) -> ToolReport:
    text = "\n".join(lines)
    possible = [sentence for sentence in table if sentence.pattern.may_match(text)]
    found: list[Sighting] = []
    index = 0
    while index < len(lines) and len(found) < MAX_FINDINGS:
        end = index + 1
        line = lines[index]
        told = next(((s, m) for s in possible if (m := s.pattern.match(line))), None) if line else None
        if told:
            sentence, match = told
            while end < len(lines) and end <= index + sentence.follow and FOLLOWING.match(lines[end]):
                end += 1
            finding = finding_of(match, sentence.tool, tuple(lines[index:end]))
            typed = replace(finding, type=finding.type or sentence.type or None)
            found.append(Sighting(typed, index, end, sentence.rank))
        index = end
    return ToolReport(tuple(found))
