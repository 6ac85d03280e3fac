"""Memory in a SQLite file: WAL, so that readers never wait, and an FTS5 index of words without their places.

`synchronous=NORMAL` in WAL mode: a killed process loses nothing it committed and no crash damages the file; only a
power cut can take back the last moments, and those facts are told again when the run is resumed.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from buildloop.errors import MemoryUnavailable
from buildloop.memory.schema import FAILURE_COLUMNS, SCHEMA_VERSION, statements
from buildloop.memory.store import TOO_LONG, WRITE_SECONDS, Row, newer_schema
from buildloop.memory.words import index_words

DIALECT = {
    "key": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "whole": "INTEGER",
    "words_column": "",
    "compact": " WITHOUT ROWID",
}
# `ascii` with these token characters leaves our words as they are: it splits at nothing that is in one.
INDEX = """CREATE VIRTUAL TABLE word_index USING fts5(
    words, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '_:'")"""
INSERT = f"""INSERT INTO failures ({", ".join(FAILURE_COLUMNS)}) VALUES ({", ".join("?" for _ in FAILURE_COLUMNS)})
    ON CONFLICT (fingerprint, repo) DO NOTHING RETURNING id"""
# Where the index ends: rows behind it are few, and read as they are.
WATERMARK = "CREATE TABLE indexed (through INTEGER NOT NULL)"
BATCH = 256
CHECKED_EVERY = 32
STEPS_BETWEEN_CHECKS = 1000
MAPPED_BYTES = 1 << 30
PAGES_BETWEEN_CHECKPOINTS = 4000


class SqliteStore:
    def __init__(self, path: Path, seconds: float = WRITE_SECONDS) -> None:
        self.path = path
        self.repo_numbers: dict[str, int] = {}
        with self._sentences():
            _make_private(path)
            self.connection = sqlite3.connect(path, isolation_level=None, timeout=seconds)
            self.connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
            self.connection.execute("PRAGMA synchronous = NORMAL")
            self.connection.execute(f"PRAGMA wal_autocheckpoint = {PAGES_BETWEEN_CHECKPOINTS}")
            self._prepare(seconds)
            self._wait_for_others(WRITE_SECONDS)

    def rows(self, sql: str, *values: object) -> list[Row]:
        with self._sentences():
            return self.connection.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._sentences():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        end = time.monotonic() + seconds
        self.connection.set_progress_handler(lambda: int(time.monotonic() > end), STEPS_BETWEEN_CHECKS)
        self._wait_for_others(seconds)
        try:
            yield
        finally:
            self.connection.set_progress_handler(None, 0)
            self._wait_for_others(WRITE_SECONDS)

    def insert_failure(self, row: Row) -> int | None:
        inserted = self.rows(INSERT, *row)
        if not inserted:
            return None
        failure = int(inserted[0][0])
        if failure % CHECKED_EVERY == 0 and failure - self._through() >= BATCH:
            self._index_through(failure)
        return failure

    def remove_failure(self, failure: int) -> None:
        if failure <= self._through():
            ((_, text),) = self._words("id = ?", failure)
            self.rows(
                "INSERT INTO word_index (word_index, rowid, words) VALUES ('delete', ?, ?)", failure, text
            )
        self.rows("DELETE FROM failures WHERE id = ?", failure)

    def forget_words(self) -> None:
        self.rows("INSERT INTO word_index (word_index) VALUES ('delete-all')")

    def postings(self, word: str, limit: int) -> list[int]:
        sql = "SELECT rowid FROM word_index WHERE word_index MATCH ? ORDER BY rowid DESC LIMIT ?"
        return [row[0] for row in self.rows(sql, f'"{word}"', limit)]

    def unindexed(self) -> list[int]:
        sql = "SELECT id FROM failures WHERE id > ? ORDER BY id"
        return [row[0] for row in self.rows(sql, self._through())]

    def size(self) -> int:
        files = (self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        self.connection.close()

    def _index_through(self, failure: int) -> None:
        """Index in batches: a commit with words of its own writes a segment that later ones must merge again."""
        entries = self._words("id > ? AND id <= ?", self._through(), failure)
        with self._sentences():
            self.connection.executemany("INSERT INTO word_index (rowid, words) VALUES (?, ?)", entries)
        self.rows("UPDATE indexed SET through = ?", failure)

    def _words(self, condition: str, *values: object) -> list[tuple[int, str]]:
        found = self.rows(f"SELECT id, repo, test, message FROM failures WHERE {condition}", *values)
        return [(failure, " ".join(index_words(*stored))) for failure, *stored in found]

    def _through(self) -> int:
        return int(self.rows("SELECT through FROM indexed")[0][0])

    def _wait_for_others(self, seconds: float) -> None:
        self.connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    def _prepare(self, seconds: float) -> None:
        version = int(self.rows("PRAGMA user_version")[0][0])
        if version == SCHEMA_VERSION:
            return
        if version > SCHEMA_VERSION:
            raise newer_schema(version, SCHEMA_VERSION, str(self.path))
        self._write_ahead(seconds)
        with self.transaction():
            version = int(self.rows("PRAGMA user_version")[0][0])
            own = (INDEX, WATERMARK, "INSERT INTO indexed VALUES (0)") if version == 0 else ()
            for statement in (*statements(DIALECT, version), *own):
                self.rows(statement)
            if version < SCHEMA_VERSION:
                self.rows(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _write_ahead(self, seconds: float) -> None:
        """The change to WAL needs the file for itself, and SQLite does not wait for that by its own timeout."""
        end = time.monotonic() + seconds
        while True:
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                return

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise MemoryUnavailable(_sentence(error, self.path)) from error
        except OSError as error:
            raise MemoryUnavailable(f"the memory at {self.path} cannot be used: {error.strerror}") from error


def _make_private(path: Path) -> None:
    """Memory holds pieces of the user's code: only the user may read it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _sentence(error: sqlite3.Error, path: Path) -> str:
    reason = TOO_LONG if str(error) == "interrupted" else str(error)
    return f"the memory at {path} cannot be used: {reason}"
