"""Tools that say what is wrong in one line: a table of sentences, each with what kind of trouble it is."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from buildloop.gate.parsers.diagnostics import MAX_FINDINGS, finding_of
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport


class Sentence(NamedTuple):
    """`pattern` is matched from the start of a line; its named groups become the finding's fields."""

    tool: str
    type: str
    pattern: re.Pattern[str]
    rank: Rank = Rank.CAUSE
    follow: int = 0  # indented or bulleted lines after it that belong to it


NAMED_GROUP = re.compile(r"\(\?P<\w+>")
FOLLOWING = re.compile(r"(?:\[\w+\]\s{2,}|[\s│|╰─▶╭·•*-]+)\S")


def sentences(
    *rows: tuple[str, str, str] | tuple[str, str, str, Rank] | tuple[str, str, str, Rank, int],
) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(
            row[0],
            row[1],
            re.compile(row[2]),
            row[3] if len(row) > 3 else Rank.CAUSE,
            row[4] if len(row) > 4 else 0,
        )
        for row in rows
    )


@cache
def _sieve(table: tuple[Sentence, ...]) -> re.Pattern[str]:
    """One expression for the whole table: most lines match no sentence, and one match says so."""
    unnamed = (NAMED_GROUP.sub("(?:", sentence.pattern.pattern) for sentence in table)
    return re.compile("|".join(f"(?:{pattern})" for pattern in unnamed))


def read_sentences(lines: Lines, table: tuple[Sentence, ...]) -> ToolReport:
    found: list[Sighting] = []
    sieve = _sieve(table).match
    index = 0
    while index < len(lines) and len(found) < MAX_FINDINGS:
        end = index + 1
        if lines[index] and sieve(lines[index]):
            sentence, match = next((s, m) for s in table if (m := s.pattern.match(lines[index])))
            while end < len(lines) and end <= index + sentence.follow and FOLLOWING.match(lines[end]):
                end += 1
            finding = finding_of(match, sentence.tool, tuple(lines[index:end]))
            typed = replace(finding, type=finding.type or sentence.type or None)
            found.append(Sighting(typed, index, end, sentence.rank))
        index = end
    return ToolReport(tuple(found))
