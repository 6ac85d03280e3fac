"""The summary a new session starts from: at most 2000 characters that mention what failed and what was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SUMMARY_LIMIT = 2000
NOTICE = "\n[summary cut at 2000 characters]"
# Shares of the limit, so that one long part cannot push the others out.
GOAL_CHARS, FILES_CHARS, ERRORS_CHARS, TRIED_CHARS, LOG_CHARS = 500, 300, 450, 350, 200


@dataclass(frozen=True, slots=True)
class SummaryFacts:
    """What is known at the end of a session. Anything may be missing; the summary is then shorter."""

    goal: str
    iteration: int
    max_iterations: int
    status: str
    tests: str
    usage_pct: int = 0
    files: Sequence[str] = ()
    errors: Sequence[str] = ()
    fingerprints: Sequence[str] = ()
    tried: Sequence[str] = ()
    log: Sequence[str] = ()


def summarize_loop_state(facts: SummaryFacts) -> str:
    """Markdown with Goal, Status, Files Modified, Error Patterns, Tried and Recent Log Entries."""
    status = [
        f"Iteration: {facts.iteration}/{facts.max_iterations}",
        f"Status: {facts.status}",
        f"Tests: {facts.tests}",
        f"Context used: {facts.usage_pct}%",
    ]
    if facts.fingerprints:
        status.append(f"Failing fingerprints: {' '.join(facts.fingerprints[:6])}")
    parts = (
        _section("Goal", _cut(facts.goal, GOAL_CHARS)),
        _section("Status", _bullets(status, 400)),
        _section("Files Modified", _bullets(facts.files, FILES_CHARS)),
        _section("Error Patterns", _bullets(facts.errors, ERRORS_CHARS)),
        _section("Tried So Far", _bullets(facts.tried, TRIED_CHARS)),
        _section("Recent Log Entries", _bullets(facts.log, LOG_CHARS)),
    )
    text = "\n\n".join(part for part in parts if part)
    return text if len(text) <= SUMMARY_LIMIT else text[: SUMMARY_LIMIT - len(NOTICE)] + NOTICE


def _section(title: str, body: str) -> str:
    return f"## {title}\n{body}" if body else ""


def _bullets(items: Sequence[str], limit: int) -> str:
    """As many items as fit; how many more there are is said."""
    lines: list[str] = []
    left = limit
    for number, item in enumerate(items):
        line = f"- {_cut(' '.join(item.split()), 160)}"
        if len(line) + 1 > left:
            return "\n".join([*lines, f"- … and {len(items) - number} more"])
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
