"""Chooses the lines that a person, or an agent, should see first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from buildloop.diagnosis.model import Finding

MAX_ERROR_LINES = 20
FIRST_SHARE = 6  # lines of the root cause before anything else
OTHER_SHARE = 2  # lines of each further finding before the rest of the first

# Said by every failing run, or by a passing test: never worth a place.
BOILERPLATE = re.compile(
    r"\s*(?:(?:\d+ passed,? )?0 (?:failed|failures|errors)\b[^1-9]*$"
    r"|(?:PASSED|PASS|ok \d+)\b"
    r"|\S+ PASSED(?:\s+\[.*)?$"
    r"|For more information about this error"
    r"|note: run with `RUST_BACKTRACE"
    r"|[✓✔√] )"
)


def choose_lines(findings: Sequence[Finding]) -> tuple[str, ...]:
    """At most 20 of the log's own lines, most useful first, none twice."""
    chosen: dict[str, str] = {}
    for line in _by_worth(findings):
        key = " ".join(line.split())
        if key and key not in chosen and not BOILERPLATE.match(line):
            chosen[key] = line
            if len(chosen) == MAX_ERROR_LINES:
                break
    return tuple(chosen.values())


def _by_worth(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        return
    yield from findings[0].lines[:FIRST_SHARE]
    for finding in findings[1:]:
        yield from finding.lines[:OTHER_SHARE]
    yield from findings[0].lines[FIRST_SHARE:]
    for finding in findings[1:]:
        yield from finding.lines[OTHER_SHARE:]
