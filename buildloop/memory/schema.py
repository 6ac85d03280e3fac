"""The tables, the same in both databases but for a few words. Times are seconds since 1970."""

from __future__ import annotations

from collections.abc import Mapping

# Raise it with every change of the tables or of what `words.search_words` yields, and add the way there.
SCHEMA_VERSION = 2

TABLES = (
    "CREATE TABLE repos (id {key}, identity TEXT NOT NULL UNIQUE)",
    """CREATE TABLE failures (
        id {key}, repo {whole} NOT NULL, fingerprint TEXT NOT NULL, error_class TEXT NOT NULL, mode TEXT NOT NULL,
        test TEXT NOT NULL, message TEXT NOT NULL, seen {whole} NOT NULL, first_seen {whole} NOT NULL,
        last_seen {whole} NOT NULL, first_run TEXT NOT NULL, last_run TEXT NOT NULL{words_column})""",
    "CREATE UNIQUE INDEX failures_identity ON failures (fingerprint, repo)",
    # One row for each iteration in which a failure was red; `fixed` is what became of it in the next one.
    """CREATE TABLE sightings (
        run TEXT NOT NULL, session {whole} NOT NULL, iteration {whole} NOT NULL, failure {whole} NOT NULL,
        fixed {whole}, PRIMARY KEY (failure, run, session, iteration)){compact}""",
    """CREATE TABLE fixes (
        id TEXT PRIMARY KEY, failure {whole} NOT NULL, summary TEXT NOT NULL, approach TEXT NOT NULL,
        files TEXT NOT NULL, commit_id TEXT NOT NULL, run TEXT NOT NULL, confirmed_at {whole} NOT NULL)""",
    "CREATE INDEX fixes_failure ON fixes (failure)",
    """CREATE TABLE confirmations (
        fix TEXT NOT NULL, run TEXT NOT NULL, session {whole} NOT NULL, iteration {whole} NOT NULL,
        PRIMARY KEY (fix, run, session, iteration)){compact}""",
    """CREATE TABLE suggestions (
        id TEXT PRIMARY KEY, repo {whole} NOT NULL, fingerprint TEXT NOT NULL, category TEXT NOT NULL,
        stage TEXT NOT NULL, actions TEXT NOT NULL, action_keys TEXT NOT NULL, resolved TEXT, run TEXT NOT NULL,
        session {whole} NOT NULL, iteration {whole} NOT NULL, issue {whole}, recorded_at {whole} NOT NULL)""",
    "CREATE INDEX suggestions_run ON suggestions (run)",
    "CREATE INDEX suggestions_failure ON suggestions (fingerprint)",
    # How each action fared, and how failures of a class fare altogether.
    """CREATE TABLE records (
        repo {whole} NOT NULL, subject TEXT NOT NULL, tried {whole} NOT NULL, worked {whole} NOT NULL,
        PRIMARY KEY (repo, subject)){compact}""",
)
# What else a repository is known by: a shallow clone has no root commit and goes by its remote.
ALIASES = "CREATE TABLE aliases (identity TEXT PRIMARY KEY, repo {whole} NOT NULL){compact}"
# The statements that lead from one version to the next; version 0 is an empty database.
STEPS: tuple[tuple[str, ...], ...] = (TABLES, (ALIASES,))
FAILURE_COLUMNS = (
    "repo",
    "fingerprint",
    "error_class",
    "mode",
    "test",
    "message",
    "seen",
    "first_seen",
    "last_seen",
    "first_run",
    "last_run",
)
TABLE_NAMES = (
    "repos",
    "failures",
    "sightings",
    "fixes",
    "confirmations",
    "suggestions",
    "records",
    "aliases",
)


def statements(words: Mapping[str, str], since: int = 0) -> tuple[str, ...]:
    """What makes a database of version `since` one of today."""
    return tuple(statement.format_map(dict(words)) for step in STEPS[since:] for statement in step)
