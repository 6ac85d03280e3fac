"""Finds failures seen before: the same fingerprint first, then ranked text. Error text is data, never a query."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from buildloop.diagnosis.fingerprint import fingerprint
from buildloop.diagnosis.model import ErrorClass, FailureMode, Finding
from buildloop.errors import BuildloopError
from buildloop.memory.credit import fades
from buildloop.memory.facts import EVERYWHERE, class_subject, known_repo
from buildloop.memory.location import Kind, Location, memory_location
from buildloop.memory.model import Change, Fix, Record, SimilarFailure
from buildloop.memory.ranking import COUNTED, POSTINGS, Weights, candidates
from buildloop.memory.store import LOOKUP_SECONDS, Row, Store, open_store
from buildloop.memory.words import (
    MOST_WORDS,
    message_of,
    query_words,
    scoped,
    search_words,
    test_of,
    words_among,
)

LEAST_RELEVANCE = 0.35
FIX_BONUS = 1.25
FIXES_SHOWN = 3
LONGEST_ERROR = 100_000
COLUMNS = """f.id, f.fingerprint, f.error_class, f.mode, f.test, f.message, r.identity, f.seen, f.first_seen,
    f.last_seen, f.first_run, f.last_run, f.repo"""

Emit = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory is asked: one repository's, or with `shared` everybody's in this store."""

    repo: str
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """The fingerprints an error may be known by, the words of its message, and those of the test it is about."""

    fingerprints: tuple[str, ...]
    said: tuple[str, ...]
    test: tuple[str, ...]


def query_similar_failures(
    error: str | Finding,
    max_results: int = 3,
    *,
    scope: Scope | None = None,
    location: Location | None = None,
    emit: Emit | None = None,
    seconds: float = LOOKUP_SECONDS,
) -> list[SimilarFailure]:
    """Failures like `error`, the most alike first; of the repository one stands in, unless a scope is given. Never
    raises and never takes longer than `seconds`: where memory cannot be asked the answer is [] and one event
    `loop.degraded` says why. Memory that is switched off is silent."""
    end = time.monotonic() + seconds
    try:
        place = location or memory_location(os.environ)
        if place.kind is Kind.OFF:
            return []
        asked = scope or _scope_here()
        with closing(open_store(place, seconds)) as store, store.within(end - time.monotonic()):
            return similar_failures(store, error, max_results, asked)
    except BuildloopError as problem:
        if emit is not None:
            emit("loop.degraded", what="memory", why=str(problem))
        return []


def similar_failures(
    store: Store, error: str | Finding, max_results: int, scope: Scope
) -> list[SimilarFailure]:
    """The same on an open store; raises `MemoryUnavailable`."""
    asked = _question(error)
    repo = _number(store, scope)
    if repo is None and not scope.shared:
        return []
    exact = _same_fingerprint(store, asked.fingerprints, repo)
    known = {row[0] for row in exact}
    alike = [(row, share) for row, share in _alike(store, asked, repo) if row[0] not in known]
    found = [similar(store, row, 1.0, exact=True) for row in exact]
    found += [similar(store, row, share, exact=False) for row, share in alike[: max_results * 4]]
    return sorted(found, key=_usefulness)[:max_results]


def _scope_here() -> Scope:
    from buildloop.workspace.repository import open_repository  # noqa: PLC0415 (only where no scope is given)

    return Scope(open_repository(Path.cwd()).repo_id)


def _question(error: str | Finding) -> Question:
    if isinstance(error, Finding):
        return Question((fingerprint(error),), search_words(message_of(error)), search_words(test_of(error)))
    from buildloop.gate.read import read_text  # noqa: PLC0415 (the parsers are only needed for raw text)

    reading = read_text(error[-LONGEST_ERROR:], exit_code=1)
    lines = [line for line in error[:LONGEST_ERROR].splitlines() if line.strip()]
    stated = [*reading.findings, *(Finding(message=line) for line in lines[:1])]
    said = [word for one in reading.findings[:3] for word in search_words(message_of(one))]
    tests = [word for one in reading.findings[:3] for word in search_words(test_of(one))]
    return Question(
        tuple(dict.fromkeys(map(fingerprint, stated))),
        tuple(dict.fromkeys(said or query_words(reading.error_lines or lines))),
        tuple(dict.fromkeys(tests)),
    )


def _number(store: Store, scope: Scope) -> int | None:
    return None if scope.shared else known_repo(store, scope.repo)


def _same_fingerprint(store: Store, identities: Sequence[str], repo: int | None) -> list[Row]:
    sql = f"SELECT {COLUMNS} FROM failures f JOIN repos r ON r.id = f.repo WHERE f.fingerprint = ?"
    if repo is None:
        return [
            row for one in identities for row in store.rows(f"{sql} ORDER BY f.last_seen DESC LIMIT 5", one)
        ]
    return [row for one in identities for row in store.rows(f"{sql} AND f.repo = ?", one, repo)]


def _alike(store: Store, asked: Question, repo: int | None) -> list[tuple[Row, float]]:
    """Failures that share what is rare in the query."""
    words = tuple(dict.fromkeys((*asked.said, *asked.test)))[:MOST_WORDS]
    terms = {word: word if repo is None else scoped(repo, word) for word in words}
    postings = {word: store.postings(term, POSTINGS) for word, term in terms.items()}
    pending = _pending(store, words, repo, postings)
    total = _total(store, repo) + len(pending)
    weights = Weights.of(postings, total, asked.said or asked.test)
    rows = _rows(store, candidates(postings, weights))
    scored = [(row, weights.relevance(search_words(row[5]), search_words(row[4]))) for row in rows]
    return sorted(
        (pair for pair in scored if pair[1] >= LEAST_RELEVANCE), key=lambda pair: (-pair[1], -pair[0][9])
    )


def _pending(
    store: Store, words: Sequence[str], repo: int | None, postings: dict[str, list[int]]
) -> list[int]:
    """Add what is not in the index yet."""
    rows = [row for row in _rows(store, store.unindexed()) if repo is None or row[12] == repo]
    asked = frozenset(words)
    for row in rows:
        for word in words_among(asked, row[4], row[5]):
            postings[word].append(row[0])
    return [row[0] for row in rows]


def _total(store: Store, repo: int | None) -> int:
    if repo is not None:
        return len(store.postings(scoped(repo, ""), COUNTED))
    return min(COUNTED, int(store.rows("SELECT coalesce(max(id), 0) FROM failures")[0][0]))


def _rows(store: Store, failures: Iterable[int]) -> list[Row]:
    numbers = list(failures)
    if not numbers:
        return []
    marks = ", ".join("?" for _ in numbers)
    sql = f"SELECT {COLUMNS} FROM failures f JOIN repos r ON r.id = f.repo WHERE f.id IN ({marks})"
    return store.rows(sql, *numbers)


def _usefulness(found: SimilarFailure) -> tuple[bool, float, str]:
    """The same failure first; among the others one with a fix that still stands counts for more."""
    bonus = FIX_BONUS if any(not fix.faded for fix in found.fixes) else 1.0
    return not found.exact, -found.relevance * bonus, found.fingerprint


def similar(store: Store, row: Row, relevance: float, *, exact: bool) -> SimilarFailure:
    number, identity, error_class, mode, test, message, repo, seen, first, last, met, run, repo_id = row
    return SimilarFailure(
        fingerprint=identity,
        error_class=ErrorClass(error_class),
        mode=FailureMode(mode),
        test=test,
        message=message,
        repo=repo,
        exact=exact,
        relevance=round(relevance, 3),
        seen=seen,
        first_seen=timestamp(first),
        last_seen=timestamp(last),
        first_run=met,
        last_run=run,
        fixes=fixes_of(store, number, repo_id, ErrorClass(error_class)),
    )


def fixes_of(store: Store, failure: int, repo: int, error_class: ErrorClass) -> tuple[Fix, ...]:
    """The confirmed fixes of a failure, the most promising first."""
    rows = store.rows(
        "SELECT x.id, x.summary, x.approach, x.files, x.commit_id, x.run, x.confirmed_at, r.worked, r.tried "
        "FROM fixes x JOIN records r ON r.subject = x.id AND r.repo = ? WHERE x.failure = ?",
        EVERYWHERE,
        failure,
    )
    overall = record_of(store, repo, class_subject(error_class)) if rows else Record()
    found = [
        Fix(
            id=fix,
            change=Change(summary=summary, approach=approach, files=tuple(json.loads(files)), commit=commit),
            run=run,
            confirmed_at=timestamp(at),
            record=(record := Record(worked=worked, tried=tried)),
            faded=fades(record, overall),
        )
        for fix, summary, approach, files, commit, run, at, worked, tried in rows
    ]
    best_first = sorted(found, key=lambda fix: (fix.faded, -fix.record.estimate, fix.id))
    return tuple(best_first[:FIXES_SHOWN])


def record_of(store: Store, repo: int, subject: str) -> Record:
    found = store.rows("SELECT worked, tried FROM records WHERE repo = ? AND subject = ?", repo, subject)
    return Record(worked=found[0][0], tried=found[0][1]) if found else Record()


def timestamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
