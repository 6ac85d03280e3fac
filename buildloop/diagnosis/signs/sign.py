"""The row of every table of signs, and the index that finds the rows worth trying for a line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from buildloop.diagnosis.model import Signal, SignalKind

ESCAPED_LITERAL = re.compile(r"\\([^\w])")
WORTHWHILE_LITERAL = 4


@dataclass(frozen=True, slots=True)
class Sign:
    """A statement, matched from its first word on: the same words inside another sentence do not count.

    Patterns are compiled when a line holds the literal they need, so that starting up costs nothing.
    """

    pattern: str
    kind: SignalKind
    ecosystem: str

    def read(self, statement: str, line: str) -> Signal | None:
        found = _compiled(self.pattern).match(statement)
        if found is None:
            return None
        return Signal(self.kind, line, found.groupdict().get("subject") or "", self.ecosystem)


def missing(ecosystem: str, *patterns: str) -> tuple[Sign, ...]:
    """Statements that name what was not found, in the group `subject`."""
    return tuple(Sign(pattern, SignalKind.MISSING, ecosystem) for pattern in patterns)


def install(ecosystem: str, *patterns: str) -> tuple[Sign, ...]:
    """Statements that need no further question: an installation or a toolchain failed."""
    return tuple(Sign(pattern, SignalKind.INSTALL, ecosystem) for pattern in patterns)


def indexed(signs: Iterable[Sign]) -> tuple[tuple[str, Sign], ...]:
    return tuple((required_literal(sign.pattern), sign) for sign in signs)


def required_literal(pattern: str) -> str:
    """The longest text that every match of `pattern` holds; empty when there is none worth looking for."""
    best, run, depth, position = "", "", 0, 0
    while position < len(pattern):
        token, position = _token(pattern, position)
        opening, closing = token == "(", token == ")"
        literal = len(token) == 1 and depth == 0 and token not in "()[]{}|.^$*+?"
        following = pattern[position : position + 1]
        optional = following and following in "?*{"
        if literal and not optional:
            run += token
        else:
            best, run = max(best, run, key=len), ""
        depth += opening - closing
    best = max(best, run, key=len)
    return best if len(best) >= WORTHWHILE_LITERAL else ""


def _token(pattern: str, position: int) -> tuple[str, int]:
    """One character of the pattern as it will be matched, or a longer token that matches no fixed text."""
    char = pattern[position]
    if char == "\\":
        escaped = ESCAPED_LITERAL.match(pattern, position)
        return (
            (escaped.group(1), position + 2)
            if escaped and pattern[position + 1] not in "()"
            else ("\\?", position + 2)
        )
    if char == "[":
        end = pattern.index("]", position + 2)
        return "[]", end + 1
    if char == "{":
        return "{}", pattern.index("}", position) + 1
    return char, position + 1


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
