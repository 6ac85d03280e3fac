"""The database the embedded server starts from is the one Prefect's own migrations make."""

from __future__ import annotations

import runpy
import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pytest

from buildloop.cli.prefect_schema import prepare_database, schema_file

ROOT = Path(__file__).parents[2]
ROWS = "SELECT type, name, tbl_name, sql FROM sqlite_master"


def contents(script: str) -> tuple[set[tuple[object, ...]], list[tuple[str, ...]]]:
    """What a database made by `script` consists of, and which migration it stands at.

    The migrations write the constraints of a table in any order, so the lines of a statement count as a set.
    """
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(script)
        migration = database.execute("SELECT version_num FROM alembic_version").fetchall()
        found = database.execute(ROWS).fetchall()
    return {
        (*row[:3], frozenset(line.strip(" ,") for line in (row[3] or "").splitlines())) for row in found
    }, migration


@pytest.mark.slow
def test_the_shipped_schema_is_what_the_migrations_produce():
    migrated = runpy.run_path(str(ROOT / "scripts" / "dump_prefect_schema.py"))["migrated_schema"]()
    shipped = schema_file(version("prefect")).read_text(encoding="utf-8")
    assert contents(shipped) == contents(migrated)
    assert len(contents(shipped)[0]) > 50


def test_an_existing_database_is_never_replaced(tmp_path):
    (tmp_path / "prefect.db").write_bytes(b"mine")
    assert not prepare_database(tmp_path)
    assert (tmp_path / "prefect.db").read_bytes() == b"mine"


def test_a_draft_of_a_killed_start_is_no_obstacle(tmp_path):
    (tmp_path / "prefect.db.new").write_bytes(b"half")
    assert prepare_database(tmp_path)
    assert (tmp_path / "prefect.db").read_bytes().startswith(b"SQLite format 3")
    assert not (tmp_path / "prefect.db.new").exists()
