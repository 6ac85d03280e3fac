"""Writes facts down: one transaction each, and telling the same fact twice changes nothing."""

from __future__ import annotations

import hashlib
import json

from buildloop.diagnosis.model import ErrorClass
from buildloop.memory.model import Change, Failure, Moment
from buildloop.memory.store import Store

FIX_PREFIX = "fix-"
EVERYWHERE = 0
# A value: the number of the repository with a name, which is to be given twice.
REPO_BY_NAME = """coalesce((SELECT repo FROM aliases WHERE identity = ?),
    (SELECT id FROM repos WHERE identity = ?))"""


def remember_failure(store: Store, repo: str, failure: Failure, at: Moment, now: int) -> None:
    """The failure was red in this iteration."""
    number = repo_number(store, repo)
    with store.transaction():
        row = (
            number,
            failure.fingerprint,
            failure.error_class,
            failure.mode,
            failure.test,
            failure.message,
            1,
            now,
            now,
            at.run,
            at.run,
        )
        new = store.insert_failure(row)
        known = new if new is not None else failure_number(store, number, failure.fingerprint)
        assert known is not None
        seen = store.rows(
            "INSERT INTO sightings (run, session, iteration, failure) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING RETURNING failure",
            *_parts(at),
            known,
        )
        if seen and new is None:
            store.rows(
                "UPDATE failures SET seen = seen + 1, last_seen = ?, last_run = ?, mode = ? WHERE id = ?",
                now,
                at.run,
                failure.mode,
                known,
            )


def settle_failure(store: Store, repo: str, fingerprint: str, last_red: Moment, *, fixed: bool) -> None:
    """What became of a failure in the iteration after it was seen: the fix rate of its class is made of these."""
    number = repo_number(store, repo)
    with store.transaction():
        found = store.rows(
            "SELECT id, error_class FROM failures WHERE fingerprint = ? AND repo = ?", fingerprint, number
        )
        if not found:
            return
        settled = store.rows(
            "UPDATE sightings SET fixed = ? WHERE run = ? AND session = ? AND iteration = ? AND failure = ? "
            "AND fixed IS NULL RETURNING failure",
            int(fixed),
            *_parts(last_red),
            found[0][0],
        )
        if settled:
            count(store, number, class_subject(ErrorClass(found[0][1])), worked=fixed)


def confirm_fix(
    store: Store, repo: str, fingerprint: str, change: Change, at: Moment, now: int
) -> str | None:
    """This change made the failure go green. The same change confirmed again adds to its record."""
    number = repo_number(store, repo)
    with store.transaction():
        failure = failure_number(store, number, fingerprint)
        if failure is None:
            return None
        fix = fix_id(repo, fingerprint, change)
        store.rows(
            "INSERT INTO fixes (id, failure, summary, approach, files, commit_id, run, confirmed_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            fix,
            failure,
            change.summary,
            change.approach,
            json.dumps(change.files),
            change.commit,
            at.run,
            now,
        )
        confirmed = store.rows(
            "INSERT INTO confirmations (fix, run, session, iteration) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING RETURNING fix",
            fix,
            *_parts(at),
        )
        if confirmed:
            count(store, number, fix, worked=True)
    return fix


def count(store: Store, repo: int, subject: str, *, worked: bool) -> None:
    store.rows(
        "INSERT INTO records (repo, subject, tried, worked) VALUES (?, ?, 1, ?) ON CONFLICT (repo, subject) "
        "DO UPDATE SET tried = records.tried + 1, worked = records.worked + excluded.worked",
        record_owner(repo, subject),
        subject,
        int(worked),
    )


def repo_number(store: Store, repo: str) -> int:
    """The number of a repository in this store; it gets one when it is first met."""
    if repo in store.repo_numbers:
        return store.repo_numbers[repo]
    if (found := known_repo(store, repo)) is None:
        store.rows("INSERT INTO repos (identity) VALUES (?) ON CONFLICT DO NOTHING", repo)
        found = known_repo(store, repo)
    assert found is not None
    return store.repo_numbers.setdefault(repo, found)


def known_repo(store: Store, repo: str) -> int | None:
    found = store.rows(f"SELECT {REPO_BY_NAME}", repo, repo)[0][0]
    return int(found) if found is not None else None


def link_remote(store: Store, repo: str, remote: str) -> None:
    """Let shallow clones, which go by their remote, and this full one share what they learn. What a shallow clone
    learned before any full one came is taken over; a remote belongs to the first project that came with it."""
    if not remote or remote == repo or store.rows("SELECT 1 FROM aliases WHERE identity = ?", remote):
        return
    with store.transaction():
        add = "INSERT INTO aliases (identity, repo) VALUES (?, ?) ON CONFLICT DO NOTHING"
        shallow = known_repo(store, remote)
        if shallow is not None and known_repo(store, repo) is None:
            store.rows(add, repo, shallow)
        store.rows(add, remote, repo_number(store, repo))


def failure_number(store: Store, repo: int, fingerprint: str) -> int | None:
    found = store.rows("SELECT id FROM failures WHERE fingerprint = ? AND repo = ?", fingerprint, repo)
    return int(found[0][0]) if found else None


def record_owner(repo: int, subject: str) -> int:
    """A fix has one record wherever it is shown; a default action has one in each repository."""
    return EVERYWHERE if subject.startswith(FIX_PREFIX) else repo


def class_subject(error_class: ErrorClass) -> str:
    return f"class:{error_class}"


def fix_id(repo: str, fingerprint: str, change: Change) -> str:
    told = "\0".join((repo, fingerprint, change.summary)).encode("utf-8", "surrogatepass")
    return FIX_PREFIX + hashlib.sha256(told).hexdigest()[:12]


def _parts(at: Moment) -> tuple[str, int, int]:
    return at.run, at.session, at.iteration
