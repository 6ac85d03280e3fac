"""Writes the schema that the installed Prefect's migrations produce, for the embedded server's quick start.

python scripts/dump_prefect_schema.py
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from buildloop.cli.prefect_schema import schema_file


def migrated_schema() -> str:
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PREFECT_HOME": home, "DO_NOT_TRACK": "1"}
        environment.pop("PREFECT_API_URL", None)
        command = [sys.executable, "-m", "prefect", "server", "database", "upgrade", "-y"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        with closing(sqlite3.connect(Path(home) / "prefect.db")) as database:
            return "\n".join(database.iterdump()) + "\n"


if __name__ == "__main__":
    target = schema_file(version("prefect"))
    target.write_text(migrated_schema(), encoding="utf-8")
    print(f"wrote {target}")
