"""The row of every table of signs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from buildloop.diagnosis.model import SignalKind


@dataclass(frozen=True, slots=True)
class Sign:
    """A statement, matched from its first word on: the same words inside another sentence do not count."""

    pattern: re.Pattern[str]
    kind: SignalKind
    ecosystem: str


def missing(ecosystem: str, *patterns: str) -> tuple[Sign, ...]:
    """Statements that name what was not found, in the group `subject`."""
    return tuple(Sign(re.compile(pattern), SignalKind.MISSING, ecosystem) for pattern in patterns)


def install(ecosystem: str, *patterns: str) -> tuple[Sign, ...]:
    """Statements that need no further question: an installation or a toolchain failed."""
    return tuple(Sign(re.compile(pattern), SignalKind.INSTALL, ecosystem) for pattern in patterns)
