"""A failure as a comment on GitHub: short for who scrolls past, complete for who unfolds it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from buildloop.diagnosis.model import Diagnosis
from buildloop.redact import redactor
from buildloop.report.error_context import (
    ACTIONS,
    EVIDENCE_SHOWN,
    NONE_SEEN,
    SIMILAR,
    SIMILAR_SHOWN,
    WHAT,
    WHY,
    ErrorContext,
    SimilarFailure,
    masked,
)
from buildloop.report.recollection import recalled
from buildloop.report.safe import block, code, folded, sentence, visible

# GitHub refuses a body of more than 65,536 characters; counted in bytes it is safe in any script.
MOST_BYTES = 65_000
LOG_LINE_CHARS = 1000
SAFE_ROOM = 4_000


def format_github_error_comment(
    error_msg: str,
    stage: str,
    iteration: int,
    goal: str,
    issue_number: int | None = None,
    *,
    diagnosis: Diagnosis | None = None,
    similar: Sequence[SimilarFailure] | None = None,
    actions: Sequence[str] = (),
    note: str = NONE_SEEN,
    intro: str = "",
    log: str = "",
    more: Sequence[tuple[str, str]] = (),
) -> str:
    """Markdown within GitHub's limit. `intro` and the bodies of `more` (title, body) are Markdown of ours; everything
    else is data of others. `log` is the longer log, where there is one. Where `similar` is not given, memory is
    asked."""
    mask = redactor(os.environ)
    raw = ErrorContext(_ends(error_msg), stage, iteration, goal, issue_number, diagnosis, note=note)
    context = masked(recalled(raw, similar, actions), mask)
    head = "\n\n".join([*([mask(intro)] if intro else []), *_visible_parts(context)])
    folds = [folded("Goal", block(_cut(context.goal, 4_000)))]
    folds += [folded(title, mask(body)) for title, body in more]
    room = MOST_BYTES - SAFE_ROOM - len(head.encode()) - sum(len(fold.encode()) + 2 for fold in folds)
    while folds and room < SAFE_ROOM:
        room += len(folds.pop().encode()) + 2
    whole = mask(visible(_ends(log))) or context.error
    folds.insert(0, folded("Log", block(_cut(whole, max(room, SAFE_ROOM)))))
    return "\n\n".join([head, *folds]) + "\n"


def _visible_parts(context: ErrorContext) -> list[str]:
    first = "\n".join(line for line in context.lines[:8]) or "(the log says nothing)"
    place = [f"Stage {code(context.stage)}", f"iteration {context.iteration}"]
    if context.issue is not None:
        place.append(f"issue #{context.issue}")
    evidence = [] if context.diagnosis is None else context.diagnosis.evidence[:EVIDENCE_SHOWN]
    why = [f"- {sentence(reason)}" for reason in context.reasons]
    return [
        f"### {WHAT}\n\n{' · '.join(place)}. Goal: {code(context.goal, 120)}\n\n{block(first)}",
        f"### {WHY}\n\n" + "\n".join([*why, *(f"  - {code(line, 300)}" for line in evidence)]),
        f"### {SIMILAR}\n\n{_similar(context)}",
        f"### {ACTIONS}\n\n"
        + "\n".join(f"{number}. {sentence(action, 400)}" for number, action in enumerate(context.advice, 1)),
    ]


def _similar(context: ErrorContext) -> str:
    def told(one: SimilarFailure) -> str:
        fix = f"fixed by {code(one.fix, 300)} ({one.record})" if one.fix else "no confirmed fix"
        return f"- {code(one.message, 300)}: {fix}"

    return "\n".join(told(one) for one in context.similar[:SIMILAR_SHOWN]) or sentence(context.note)


def _ends(text: str) -> str:
    """More than can be shown of either end; what lies between need not be looked at."""
    return text if len(text) <= 4 * MOST_BYTES else f"{text[: 2 * MOST_BYTES]}\n{text[-2 * MOST_BYTES :]}"


def _cut(text: str, most_bytes: int) -> str:
    """The beginning and, twice as long, the end of a log, in whole lines, with a note of what is missing."""
    lines = [line[:LOG_LINE_CHARS] for line in visible(text).splitlines()]
    sizes = [len(line.encode()) + 1 for line in lines]
    if sum(sizes) <= most_bytes:
        return "\n".join(lines)
    room = most_bytes - 80
    first = _fitting(sizes, room // 3)
    last = _fitting(sizes[first:][::-1], room - sum(sizes[:first]))
    left_out = len(lines) - first - last
    return "\n".join([*lines[:first], f"[… {left_out:,} lines left out …]", *lines[len(lines) - last :]])


def _fitting(sizes: Sequence[int], room: int) -> int:
    """How many of them, from the first on, fit."""
    used = 0
    for number, size in enumerate(sizes):
        used += size
        if used > room:
            return number
    return len(sizes)
