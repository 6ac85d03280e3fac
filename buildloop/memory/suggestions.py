"""Keeps track of suggestions: shown, then credited or not. Each has its own outcome; nobody gets another's credit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from buildloop.diagnosis.model import ErrorClass
from buildloop.files import write_atomic
from buildloop.memory.facts import FIX_PREFIX, count, repo_number
from buildloop.memory.model import Moment, Suggestion
from buildloop.memory.recall import Emit, timestamp
from buildloop.memory.store import Row, Store

SUGGESTIONS_FILE = "suggestions.jsonl"
COLUMNS = """s.id, s.category, s.stage, s.actions, s.resolved, s.recorded_at, s.fingerprint, s.run, s.session,
    s.iteration, s.issue, s.action_keys, r.identity"""


def record_suggestion(store: Store, suggestion: Suggestion, now: int, emit: Emit) -> bool:
    """Whether it is new: the same id is recorded once, and told once."""
    repo = repo_number(store, suggestion.repo)
    with store.transaction():
        new = store.rows(
            "INSERT INTO suggestions (id, repo, fingerprint, category, stage, actions, action_keys, run, session, "
            "iteration, issue, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING RETURNING id",
            suggestion.id,
            repo,
            suggestion.fingerprint,
            suggestion.category,
            suggestion.stage,
            json.dumps(suggestion.actions),
            json.dumps(suggestion.keys),
            suggestion.run,
            suggestion.session,
            suggestion.iteration,
            suggestion.issue,
            now,
        )
    if new:
        emit(
            "suggestion.recorded",
            id=suggestion.id,
            category=suggestion.category,
            stage=suggestion.stage,
            iteration=suggestion.iteration,
            issue=suggestion.issue,
        )
    return bool(new)


def mark_suggestion_resolved(store: Store, suggestion_id: str, resolved: str = "true", *, emit: Emit) -> bool:
    """Settle one suggestion, once: "true" credits its actions, "false" counts against them. Unknown or settled
    already: nothing happens, and the answer is False."""
    if resolved not in ("true", "false"):
        raise ValueError(f'resolved is "true" or "false", not {resolved!r}')
    with store.transaction():
        settled = store.rows(
            "UPDATE suggestions SET resolved = ? WHERE id = ? AND resolved IS NULL "
            "RETURNING repo, action_keys, category, stage, iteration, issue",
            resolved,
            suggestion_id,
        )
        if not settled:
            return False
        repo, keys, category, stage, iteration, issue = settled[0]
        # In one order everywhere, so that two writers cannot wait for each other.
        for key in sorted(set(json.loads(keys))):
            count(store, repo, key, worked=resolved == "true")
    emit(
        "suggestion.resolved",
        id=suggestion_id,
        category=category,
        stage=stage,
        iteration=iteration,
        issue=issue,
        resolved=resolved,
    )
    return True


def resolve_outstanding_suggestions(
    store: Store, at: Moment, outcomes: Mapping[str, bool], *, emit: Emit
) -> list[str]:
    """Settle the open suggestions of a run whose failures have an outcome in this iteration. Green credits what was
    shown in this very iteration; what was shown before had its chance, and the failure stayed. Suggestions for other
    failures stay open, settled ones stay as they are."""
    settled = []
    sql = (
        "SELECT id, session, iteration FROM suggestions WHERE run = ? AND fingerprint = ? AND resolved IS NULL "
        "AND (session, iteration) <= (?, ?)"  # told again after a crash, it meets what the next prompt will show
    )
    for fingerprint, went_green in outcomes.items():
        for number, session, iteration in store.rows(
            f"{sql} ORDER BY session, iteration, id", at.run, fingerprint, at.session, at.iteration
        ):
            worked = went_green and (session, iteration) == (at.session, at.iteration)
            mark_suggestion_resolved(store, number, "true" if worked else "false", emit=emit)
            settled.append(number)
    return settled


def suggestions_of(store: Store, run: str | None = None, *, limit: int | None = None) -> list[Suggestion]:
    """Those of one run in the order they were shown, or the newest of all."""
    sql = f"SELECT {COLUMNS} FROM suggestions s JOIN repos r ON r.id = s.repo"
    if run is not None:
        rows = store.rows(f"{sql} WHERE s.run = ? ORDER BY s.session, s.iteration, s.id", run)
    else:
        rows = store.rows(f"{sql} ORDER BY s.recorded_at DESC, s.id LIMIT ?", limit or 100)
    return [_suggestion(row) for row in rows]


def files_of_shown_fixes(store: Store, run: str, fingerprint: str, after: int, upto: int) -> set[str]:
    """Which files the fixes of this very failure touch that were shown in these iterations."""
    asked = "SELECT action_keys FROM suggestions WHERE run = ? AND fingerprint = ? AND iteration > ? AND iteration <= ?"
    found_keys = (json.loads(row[0]) for row in store.rows(asked, run, fingerprint, after, upto))
    shown = [key for keys in found_keys for key in keys if key.startswith(FIX_PREFIX)]
    sql = (
        "SELECT x.files FROM fixes x JOIN failures f ON f.id = x.failure WHERE x.id = ? AND f.fingerprint = ?"
    )
    found = [row for key in shown for row in store.rows(sql, key, fingerprint)]
    return {name for row in found for name in json.loads(row[0])}


def find_suggestions(store: Store, beginning: str) -> list[Suggestion]:
    """Those whose id starts with `beginning`; a few are enough to see that it is not clear."""
    sql = f"SELECT {COLUMNS} FROM suggestions s JOIN repos r ON r.id = s.repo"
    size = len(beginning)
    return [
        _suggestion(row) for row in store.rows(f"{sql} WHERE substr(s.id, 1, ?) = ? LIMIT 5", size, beginning)
    ]


def export_suggestions(suggestions: Iterable[Suggestion], path: Path) -> None:
    """`suggestions.jsonl`: a view of the store, replaced as a whole."""
    lines = (json.dumps(one.model_dump(mode="json"), ensure_ascii=True) for one in suggestions)
    write_atomic(path, "".join(f"{line}\n" for line in lines), view=True)


def _suggestion(row: Row) -> Suggestion:
    number, category, stage, actions, resolved, at, failure, run, session, iteration, issue, keys, repo = row
    return Suggestion(
        id=number,
        category=ErrorClass(category),
        stage=stage,
        actions=tuple(json.loads(actions)),
        resolved=resolved,
        timestamp=timestamp(at),
        fingerprint=failure,
        run=run,
        session=session,
        iteration=iteration,
        issue=issue,
        keys=tuple(json.loads(keys)),
        repo=repo,
    )
