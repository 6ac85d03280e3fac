"""What memory needs of a database, and how one is opened. SQL is the same for both; `?` marks a value."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from buildloop.errors import MemoryUnavailable
from buildloop.memory.location import Kind, Location

Row = tuple[Any, ...]
LOOKUP_SECONDS = 5.0
# For what must wait its turn among many writers.
WRITE_SECONDS = 60.0
TOO_LONG = "the lookup took too long and was stopped"


class Store(Protocol):
    """One connection. Whatever goes wrong in it is a `MemoryUnavailable` with a sentence."""

    repo_numbers: dict[str, int]  # those that were looked up already; a number never changes

    def rows(self, sql: str, *values: object) -> list[Row]: ...

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, and one writer at a time for what it touches."""

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Everything inside is interrupted after so many seconds, whatever it is doing."""

    def insert_failure(self, row: Row) -> int | None:
        """Store and index a failure (see `schema.FAILURE_COLUMNS`); None where this repository has it already."""

    def remove_failure(self, failure: int) -> None:
        """Delete a failure and its words."""

    def forget_words(self) -> None:
        """Empty the index, when all failures are deleted."""

    def postings(self, word: str, limit: int) -> list[int]:
        """Failures that have this very word in the index, at most `limit`."""

    def unindexed(self) -> list[int]:
        """Failures that are stored but not yet in the index: few."""

    def size(self) -> int:
        """Bytes on disk."""

    def close(self) -> None: ...


def open_store(location: Location, seconds: float = WRITE_SECONDS) -> Store:
    """Connect within so many seconds, and make the tables if there are none. Import only what this kind of database
    needs."""
    if location.kind is Kind.OFF:
        raise MemoryUnavailable("memory is switched off")
    if location.kind is Kind.SQLITE:
        from buildloop.memory.sqlite import SqliteStore  # noqa: PLC0415

        return SqliteStore(Path(location.target), seconds)
    from buildloop.memory.postgresql import PostgresqlStore  # noqa: PLC0415

    return PostgresqlStore(location, seconds)


def newer_schema(found: int, known: int, where: str) -> MemoryUnavailable:
    return MemoryUnavailable(
        f"the memory at {where} was written by a newer buildloop (schema {found}, this one knows {known}); "
        "upgrade buildloop"
    )
