"""Memory in PostgreSQL, for teams on several machines. The words are a `tsvector` with a GIN index."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from buildloop.errors import MemoryUnavailable
from buildloop.memory.connection import NAMESPACE, connected, driver, hang_up, without_names
from buildloop.memory.location import Location
from buildloop.memory.schema import FAILURE_COLUMNS, SCHEMA_VERSION, statements
from buildloop.memory.store import LOOKUP_SECONDS, TOO_LONG, WRITE_SECONDS, Row, newer_schema
from buildloop.memory.words import index_words

DIALECT = {
    "key": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "whole": "BIGINT",
    "words_column": ", words TSVECTOR",
    "compact": "",
}
INDEX = "CREATE INDEX failures_words ON failures USING gin (words)"
INSERT = f"""INSERT INTO failures ({", ".join(FAILURE_COLUMNS)}, words)
    VALUES ({", ".join("?" for _ in FAILURE_COLUMNS)}, array_to_tsvector(?::text[]))
    ON CONFLICT (fingerprint, repo) DO NOTHING RETURNING id"""
# An arbitrary number that only buildloop uses: one client at a time makes the tables.
SETUP_LOCK = 0x6275696C64
# The share of a limit that is kept for a server that does not stop when it is asked to.
HANGING_UP = 0.1


class PostgresqlStore:
    def __init__(self, location: Location, seconds: float = WRITE_SECONDS) -> None:
        self.location = location
        self.repo_numbers: dict[str, int] = {}
        self.end: float | None = None
        started = time.monotonic()
        with self._sentences():
            self.connection = connected(location, min(seconds, LOOKUP_SECONDS))
        try:
            with self._sentences(), self.within(seconds - (time.monotonic() - started)):
                self._prepare()
        except BaseException:
            self.close()
            raise

    def rows(self, sql: str, *values: object) -> list[Row]:
        with self._sentences():
            self._keep_to_deadline()
            placed = sql.replace("%", "%%").replace("?", "%s") if values else sql
            cursor = self.connection.execute(placed.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._sentences(), self.connection.transaction():
            yield

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """A timer asks the server to stop; a server that does not is hung up on."""
        self.end = time.monotonic() + seconds
        over, asked = threading.Event(), threading.Event()
        watch = threading.Thread(target=self._stop_after, args=(seconds, over, asked), daemon=True)
        watch.start()
        try:
            yield
        finally:
            over.set()
            self.end = None
            if asked.is_set():
                self._let_the_stop_arrive(watch)

    def insert_failure(self, row: Row) -> int | None:
        repo, test, message = (row[FAILURE_COLUMNS.index(name)] for name in ("repo", "test", "message"))
        inserted = self.rows(INSERT, *row, list(index_words(repo, test, message)))
        return int(inserted[0][0]) if inserted else None

    def remove_failure(self, failure: int) -> None:
        self.rows("DELETE FROM failures WHERE id = ?", failure)

    def forget_words(self) -> None:
        """They are a column of the failures."""

    def postings(self, word: str, limit: int) -> list[int]:
        """In no order: only without one does the scan end at the limit."""
        sql = "SELECT id FROM failures WHERE words @@ ?::tsquery LIMIT ?"
        return [row[0] for row in self.rows(sql, f"'{word}'", limit)]

    def unindexed(self) -> list[int]:
        return []

    def size(self) -> int:
        sql = """SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
            WHERE relnamespace = ?::regnamespace AND relkind = 'r'"""
        return int(self.rows(sql, NAMESPACE)[0][0])

    def close(self) -> None:
        self.connection.close()

    def _let_the_stop_arrive(self, watch: threading.Thread) -> None:
        """What the server was asked to stop may have ended by itself; the next statement must not be stopped for it."""
        watch.join()
        with contextlib.suppress(driver().Error):
            self.connection.execute(b"SELECT 1")

    def _stop_after(self, seconds: float, over: threading.Event, asked: threading.Event) -> None:
        """The last tenth is for a server that stops when it is asked to, and so leaves the connection usable."""
        polite = max(0.0, seconds) * (1 - HANGING_UP)
        if over.wait(polite):
            return
        asked.set()
        with contextlib.suppress(driver().Error):  # closed meanwhile, or as deaf as the rest
            self.connection.cancel_safe(timeout=max(0.1, seconds - polite))
        if not over.wait(max(0.1, seconds - polite)):
            hang_up(self.connection)

    def _keep_to_deadline(self) -> None:
        if self.end is not None and time.monotonic() > self.end:
            raise MemoryUnavailable(f"the memory at {self.location.shown} cannot be used: {TOO_LONG}")

    def _prepare(self) -> None:
        if (version := self._version()) == SCHEMA_VERSION:
            return
        if version > SCHEMA_VERSION:
            raise newer_schema(version, SCHEMA_VERSION, self.location.shown)
        # Locked before the transaction: only at its start does the server notice what others have made meanwhile.
        self.rows("SELECT pg_advisory_lock(?)", SETUP_LOCK)
        try:
            with self.transaction():
                self._make_tables()
        finally:
            self.rows("SELECT pg_advisory_unlock(?)", SETUP_LOCK)

    def _make_tables(self) -> None:
        version = self._version()
        self.rows(f"CREATE SCHEMA IF NOT EXISTS {NAMESPACE}")
        own = (INDEX, "CREATE TABLE schema_version (version INT)") if version == 0 else ()
        for statement in (*statements(DIALECT, version), *own):
            self.rows(statement)
        if version < SCHEMA_VERSION:
            self.rows("INSERT INTO schema_version VALUES (?)", SCHEMA_VERSION)

    def _version(self) -> int:
        if self.rows("SELECT to_regclass(?)", f"{NAMESPACE}.schema_version")[0][0] is None:
            return 0
        return int(self.rows("SELECT max(version) FROM schema_version")[0][0])

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        psycopg = driver()
        try:
            yield
        except psycopg.errors.QueryCanceled as error:
            raise MemoryUnavailable(
                f"the memory at {self.location.shown} cannot be used: {TOO_LONG}"
            ) from error
        except psycopg.Error as error:
            if self.end is not None and time.monotonic() >= self.end:
                raise MemoryUnavailable(
                    f"the memory at {self.location.shown} cannot be used: {TOO_LONG}"
                ) from error
            said = str(error).strip().splitlines() or [type(error).__name__]
            reason = without_names(said[0], self.location)
            raise MemoryUnavailable(
                f"the memory at {self.location.shown} cannot be used: {reason}"
            ) from error
