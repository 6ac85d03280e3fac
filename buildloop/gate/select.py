"""Chooses the lines that a person, or an agent, should see first."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.diagnosis.model import Finding
from buildloop.patterns import Regex

MAX_ERROR_LINES = 20
FIRST_SHARE = 6  # lines of the root cause before anything else
OTHER_SHARE = 2  # lines of each further finding before the rest of the first

# Said by every failing run, or by a passing test: never worth a place.
BOILERPLATE = Regex(
    r"\s*(?:(?:\d+ passed,? )?0 (?:failed|failures|errors)\b[^1-9]*$"
    r"|(?:PASSED|PASS|ok \d+)\b"
    r"|\S+ PASSED(?:\s+\[.*)?$"
    r"|\[ERROR\] (?:To see the full|Re-run Maven|-> \[Help|\[Help|For more information|After correcting)"
    r"|For more information about this error|FAILED \((?:failures|errors)="
    r"|note: run with `RUST_BACKTRACE"
    r"|[✓✔√] )"
)


def choose_lines(findings: Sequence[Finding]) -> tuple[str, ...]:
    """At most 20 of the log's own lines, most useful first, none twice."""
    chosen: dict[str, str] = {}
    for index, finding in enumerate(findings):
        _take(chosen, finding.lines, OTHER_SHARE if index else FIRST_SHARE)
    for finding in findings:
        _take(chosen, finding.lines, MAX_ERROR_LINES)
    return tuple(chosen.values())[:MAX_ERROR_LINES]


def _take(chosen: dict[str, str], lines: Sequence[str], share: int) -> None:
    """Adds up to `share` lines that are not there yet; what differs only in blanks is the same line."""
    for line in lines:
        key = " ".join(line.split())
        if share == 0 or len(chosen) >= MAX_ERROR_LINES:
            return
        if key and key not in chosen and not BOILERPLATE.match(line):
            chosen[key] = line
            share -= 1
