"""The row of every table of signs."""

from __future__ import annotations

from typing import NamedTuple

from buildloop.diagnosis.model import Signal, SignalKind
from buildloop.patterns import Regex


class Sign(NamedTuple):
    """A statement, matched from its first word on: the same words inside another sentence do not count."""

    pattern: Regex
    kind: SignalKind
    ecosystem: str

    def read(self, statement: str, line: str) -> Signal | None:
        found = self.pattern.match(statement)
        if found is None:
            return None
        return Signal(self.kind, line, found.groupdict().get("subject") or "", self.ecosystem)


def signs(kind: SignalKind, ecosystem: str, *patterns: str) -> tuple[Sign, ...]:
    return tuple(Sign(Regex(pattern), kind, ecosystem) for pattern in patterns)


def missing(ecosystem: str, *patterns: str) -> tuple[Sign, ...]:
    """Statements that name what was not found, in the group `subject`."""
    return signs(SignalKind.MISSING, ecosystem, *patterns)


def install(ecosystem: str, *patterns: str) -> tuple[Sign, ...]:
    """Statements that need no further question: an installation or a toolchain failed."""
    return signs(SignalKind.INSTALL, ecosystem, *patterns)
