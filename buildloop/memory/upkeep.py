"""Looks after memory: what is in it, taking things out again, and handing it over as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from buildloop.diagnosis.model import ErrorClass
from buildloop.memory.facts import EVERYWHERE, REPO_BY_NAME, class_subject
from buildloop.memory.model import Record, SimilarFailure
from buildloop.memory.recall import COLUMNS, similar
from buildloop.memory.schema import SCHEMA_VERSION, TABLE_NAMES
from buildloop.memory.store import Row, Store
from buildloop.models import Frozen

PAGE = 500


class ClassStats(Frozen):
    """How failures of a class fared from one iteration to the next, and with a confirmed fix in the prompt."""

    error_class: ErrorClass
    failures: int
    overall: Record
    with_fix: Record


class Stats(Frozen):
    schema_version: int
    bytes: int
    repos: int
    failures: int
    sightings: int
    runs: int
    fixes: int
    suggestions: int
    open_suggestions: int
    classes: tuple[ClassStats, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which failures are meant; all given conditions must hold. `run` means what no other run has met; `before` is
    in seconds since 1970."""

    repo: str | None = None
    fingerprint: str | None = None
    run: str | None = None
    before: int | None = None

    def condition(self) -> tuple[str, list[object]]:
        parts: list[tuple[str, tuple[object, ...]]] = []
        if self.repo is not None:
            parts.append((f"f.repo = {REPO_BY_NAME}", (self.repo, self.repo)))
        if self.fingerprint is not None:
            parts.append(("f.fingerprint = ?", (self.fingerprint,)))
        if self.run is not None:
            parts.append(("f.first_run = ? AND f.last_run = ?", (self.run, self.run)))
        if self.before is not None:
            parts.append(("f.last_seen < ?", (self.before,)))
        return " AND ".join(text for text, _ in parts) or "1 = 1", [
            one for _, given in parts for one in given
        ]


def stats(store: Store) -> Stats:
    def number(sql: str) -> int:
        return int(store.rows(sql)[0][0])

    return Stats(
        schema_version=SCHEMA_VERSION,
        bytes=store.size(),
        repos=number("SELECT count(DISTINCT repo) FROM failures"),
        failures=number("SELECT count(*) FROM failures"),
        sightings=number("SELECT count(*) FROM sightings"),
        runs=number("SELECT count(DISTINCT run) FROM sightings"),
        fixes=number("SELECT count(*) FROM fixes"),
        suggestions=number("SELECT count(*) FROM suggestions"),
        open_suggestions=number("SELECT count(*) FROM suggestions WHERE resolved IS NULL"),
        classes=tuple(_class_stats(store)),
    )


def count_selected(store: Store, selection: Selection) -> int:
    condition, values = selection.condition()
    return int(store.rows(f"SELECT count(*) FROM failures f WHERE {condition}", *values)[0][0])


def forget(store: Store, selection: Selection) -> int:
    """Take the selected failures out, with everything that hangs on them; how many that were. A few at a time, so
    that nobody waits long for the store. A run's fixes for failures that others have met go too."""
    if selection == Selection():
        return _forget_everything(store)
    condition, values = selection.condition()
    forgotten = 0
    if selection == Selection(run=selection.run) and selection.run is not None:
        with store.transaction():
            _forget_fixes(store, "run = ?", selection.run)
    while True:
        with store.transaction():
            rows = store.rows(
                f"SELECT f.id, f.repo, f.fingerprint FROM failures f WHERE {condition} LIMIT {PAGE}", *values
            )
            for row in rows:
                _forget_one(store, row)
        forgotten += len(rows)
        if len(rows) < PAGE:
            return forgotten


def exported(store: Store, selection: Selection) -> Iterator[SimilarFailure]:
    """The selected failures with their fixes, oldest first, read page by page."""
    condition, values = selection.condition()
    last = 0
    while True:
        rows = store.rows(
            f"SELECT {COLUMNS} FROM failures f JOIN repos r ON r.id = f.repo WHERE {condition} AND f.id > ? "
            f"ORDER BY f.id LIMIT {PAGE}",
            *values,
            last,
        )
        yield from (similar(store, row, 1.0, exact=True) for row in rows)
        if len(rows) < PAGE:
            return
        last = rows[-1][0]


def _class_stats(store: Store) -> Iterator[ClassStats]:
    sql = "SELECT error_class, count(*) FROM failures GROUP BY error_class"
    counted: dict[str, int] = {str(row[0]): int(row[1]) for row in store.rows(sql)}
    totals = "SELECT coalesce(sum(worked), 0), coalesce(sum(tried), 0) FROM records WHERE subject = ?"
    shown = (
        "SELECT coalesce(sum(CASE WHEN resolved = 'true' THEN 1 ELSE 0 END), 0), count(*) FROM suggestions "
        "WHERE category = ? AND resolved IS NOT NULL AND action_keys LIKE '%fix-%'"
    )
    for error_class in (one for one in ErrorClass if one in counted):
        (worked, tried), (helped, given) = (
            store.rows(totals, class_subject(error_class))[0],
            store.rows(shown, error_class)[0],
        )
        yield ClassStats(
            error_class=error_class,
            failures=counted[error_class],
            overall=Record(worked=int(worked), tried=int(tried)),
            with_fix=Record(worked=int(helped), tried=int(given)),
        )


def _forget_everything(store: Store) -> int:
    with store.transaction():
        forgotten = count_selected(store, Selection())
        for table in TABLE_NAMES:
            store.rows(f"DELETE FROM {table}")
        store.forget_words()
    store.repo_numbers.clear()
    return forgotten


def _forget_one(store: Store, row: Row) -> None:
    failure, repo, fingerprint = row
    _forget_fixes(store, "failure = ?", failure)
    store.rows("DELETE FROM sightings WHERE failure = ?", failure)
    store.rows("DELETE FROM suggestions WHERE repo = ? AND fingerprint = ?", repo, fingerprint)
    store.remove_failure(failure)


def _forget_fixes(store: Store, condition: str, value: object) -> None:
    fixes = f"SELECT id FROM fixes WHERE {condition}"
    store.rows(f"DELETE FROM records WHERE repo = ? AND subject IN ({fixes})", EVERYWHERE, value)
    store.rows(f"DELETE FROM confirmations WHERE fix IN ({fixes})", value)
    store.rows(f"DELETE FROM fixes WHERE {condition}", value)
