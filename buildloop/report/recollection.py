"""Asks memory about a failure that nobody has looked up yet, for a report; where it says nothing, the report says why.

Memory is loaded only when it is asked: reports of runs have its answer already.
"""
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from buildloop.errors import BuildloopError
from buildloop.report.error_context import (
    AGENT_STAGE,
    LINE_CHARS,
    MEMORY_OFF,
    NONE_SEEN,
    ErrorContext,
    SimilarFailure,
    memory_is_off,
    unavailable,
)
from buildloop.report.safe import visible

MOST_ASKED = 100

if TYPE_CHECKING:
    from buildloop.memory.model import SimilarFailure as Remembered


def recalled(
    context: ErrorContext, similar: Sequence[SimilarFailure] | None, actions: Sequence[str]
) -> ErrorContext:
    """With what is given; where that is nothing, with what the memory of the repository one stands in knows."""
    if similar is not None or context.stage == AGENT_STAGE:
        return replace(context, similar=tuple(similar or ()), actions=tuple(actions))
    from buildloop.memory import generate_suggested_actions

    found, note = _ask(_ends(context.error))
    advice = generate_suggested_actions(context.error_class, context.stage, found)
    return replace(
        context,
        similar=tuple(map(as_told, found)),
        actions=tuple(actions) or tuple(action.text for action in advice),
        note=note,
    )


def _ends(log: str) -> str:
    """Where a log states its errors. A line that is too long to be read by a person says nothing to memory either."""
    lines = [line[:LINE_CHARS] for line in visible(log).splitlines()]
    return "\n".join(lines if len(lines) <= 2 * MOST_ASKED else [*lines[:MOST_ASKED], *lines[-MOST_ASKED:]])


def _ask(error: str) -> tuple[list[Remembered], str]:
    from buildloop.memory import query_similar_failures
    from buildloop.memory.recall import Scope
    from buildloop.workspace.repository import open_repository

    problems: list[str] = []

    def emit(_: str, *, why: str, **__: object) -> None:
        problems.append(why)

    if memory_is_off():
        return [], MEMORY_OFF
    try:
        scope = Scope(open_repository(Path.cwd()).repo_id)
    except BuildloopError as problem:
        return [], unavailable(str(problem))
    found = query_similar_failures(error, scope=scope, emit=emit)
    return found, unavailable(problems[0]) if problems else NONE_SEEN


def as_told(one: Remembered) -> SimilarFailure:
    best = next((fix for fix in one.fixes if not fix.faded), None)
    return SimilarFailure(
        message=one.message,
        fix=(best.change.approach or best.change.summary) if best else "",
        worked=best.record.worked if best else 0,
        tried=best.record.tried if best else 0,
        seen=one.seen,
    )
