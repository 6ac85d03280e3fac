"""The row of every table of signs, and the index that finds the rows worth trying for a line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from buildloop.diagnosis.model import Signal, SignalKind
from buildloop.diagnosis.signs.literals import required_literals


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


def indexed(signs: Iterable[Sign]) -> tuple[tuple[tuple[str, ...], Sign], ...]:
    return tuple((required_literals(sign.pattern), sign) for sign in signs)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
