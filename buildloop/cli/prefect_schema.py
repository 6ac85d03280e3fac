"""A ready-made database for the embedded server: migrating an empty one takes longer than everything else.

`schema/prefect-<version>.sql` is what Prefect's own migrations produce for that version (made by
scripts/dump_prefect_schema.py, compared with the real thing in the tests). For any other version Prefect
migrates by itself, as always.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

SCHEMAS = Path(__file__).parent / "schema"


def schema_file(prefect_version: str) -> Path:
    return SCHEMAS / f"prefect-{prefect_version}.sql"


def prepare_database(folder: Path) -> bool:
    """Put the database in place unless there is one; True when it was made."""
    target, schema = folder / "prefect.db", schema_file(version("prefect"))
    if target.exists() or not schema.exists():
        return False
    draft = folder / "prefect.db.new"
    draft.unlink(missing_ok=True)
    with closing(sqlite3.connect(draft)) as database:
        database.executescript(schema.read_text(encoding="utf-8"))
    draft.replace(target)
    return True
