"""How fast memory finds and keeps failures, and that 40 writers at once lose nothing.

    python -m benchmarks.memory [--rows 1000000] [--lookups 2000] [--writers 40] [--quick]
                                [--json PATH] [--keep PATH]

1. Inserts: that many different failures, one transaction each, through the function the loop uses.
2. Lookups: `query_similar_failures` on all of them, warm, connection included; beside them a plain primary-key
   lookup in SQL on the same file, and the ratio of the two.
3. Writers: 40 processes with 250 writes each, on SQLite and on PostgreSQL (a real server from a wheel); 0 leaves it
   out.

The figures are printed and saved. `--quick` takes 20 000 rows. Exits with 1 where a bar is missed (below a million
rows losses only).
"""

from __future__ import annotations

import argparse
import itertools
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.memory_parts.messages import Messages, failure_of
from benchmarks.memory_parts.writers import writers_on_both
from buildloop.diagnosis.model import Finding
from buildloop.files import write_json
from buildloop.memory.facts import remember_failure
from buildloop.memory.location import Kind, Location
from buildloop.memory.model import Moment
from buildloop.memory.recall import Scope, query_similar_failures
from buildloop.memory.store import Store, open_store

RESULTS = Path(__file__).parent / "results"
REPOS = tuple(f"{number:040x}" for number in range(1, 21))
FULL = 1_000_000
WRITERS = 40
LOOKUPS, WARMING = 2000, 200
P99_BAR, INSERT_BAR = 0.050, 2000


@dataclass(frozen=True, slots=True)
class Inserted:
    """Seconds on the clock and of this process alone, and a sample of what was stored to ask for later."""

    seconds: float
    own_seconds: float
    sample: list[tuple[str, Finding]]


def insert(store: Store, count: int, samples: int) -> Inserted:
    messages, seconds, own, sample = Messages(2), 0.0, 0.0, []
    step = max(1, count // samples)
    for number in range(count):
        finding, repo = messages.finding(), REPOS[number % len(REPOS)]
        failure, at = failure_of(finding), Moment(run=f"run-{number // 20:07d}", iteration=number % 20)
        started, busy = time.perf_counter(), time.process_time()
        remember_failure(store, repo, failure, at, 1_700_000_000 + number)
        seconds += time.perf_counter() - started
        own += time.process_time() - busy
        if number % step == 0:
            sample.append((repo, finding))
        if number and number % 100_000 == 0:
            print(f"  {number:,} stored, {number / seconds:,.0f} a second", file=sys.stderr, flush=True)
    return Inserted(seconds, own, sample)


def timed(calls: Iterator[Callable[[], object]]) -> list[float]:
    took = []
    for call in calls:
        started = time.perf_counter()
        call()
        took.append(time.perf_counter() - started)
    return sorted(took)


def percentile(sorted_values: list[float], share: float) -> float:
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * share))]


def lookups(place: Location, sample: list[tuple[str, Finding]], *, shared: bool) -> list[float]:
    """Half of them for failures that were stored, half for new ones; as findings and as raw text."""
    fresh = Messages(3)

    def calls() -> Iterator[Callable[[], object]]:
        for number, (repo, known) in enumerate(sample):
            finding = known if number % 2 else fresh.finding()
            error = finding if number % 4 < 2 else f"E   {finding.type}: {finding.message}"
            scope = Scope(repo, shared)
            yield lambda e=error, s=scope: query_similar_failures(e, scope=s, location=place, emit=complain)

    for call in itertools.islice(calls(), WARMING):
        call()
    return timed(calls())


def complain(event: str, **fields: object) -> None:
    raise SystemExit(f"memory was not available: {event} {fields}")


def primary_key_lookups(path: Path, count: int) -> list[float]:
    """The floor: one row by its key, on an open connection."""
    chance = random.Random(4)
    with closing(sqlite3.connect(path)) as plain:
        top = plain.execute("SELECT max(id) FROM failures").fetchone()[0]
        sql = "SELECT message FROM failures WHERE id = ?"
        keys = [chance.randrange(1, top + 1) for _ in range(count)]
        return timed((lambda k=key: plain.execute(sql, (k,)).fetchone()) for key in keys)


def measure(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    place = Location(Kind.SQLITE, str(options.keep or folder / "memory.db"))
    with closing(open_store(place)) as store:
        inserted = insert(store, options.rows, options.lookups)
        store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        stored = int(store.rows("SELECT count(*) FROM failures")[0][0])
        size = store.size()
    busy = time.process_time()
    own = lookups(place, inserted.sample, shared=False)
    own_seconds = (time.process_time() - busy) / (len(own) + WARMING)
    everywhere = lookups(place, inserted.sample, shared=True)
    plain = primary_key_lookups(Path(place.target), len(inserted.sample))
    return {
        "rows": options.rows,
        "failures": stored,
        "inserts_per_second": options.rows / inserted.seconds,
        "inserts_per_cpu_second": options.rows / inserted.own_seconds,
        "bytes_per_failure": size / stored,
        "lookup_p50_ms": statistics.median(own) * 1e3,
        "lookup_cpu_ms": own_seconds * 1e3,
        "lookup_p99_ms": percentile(own, 0.99) * 1e3,
        "shared_lookup_p99_ms": percentile(everywhere, 0.99) * 1e3,
        "primary_key_p50_ms": statistics.median(plain) * 1e3,
        "primary_key_p99_ms": percentile(plain, 0.99) * 1e3,
        "lookup_to_primary_key_p50": statistics.median(own) / statistics.median(plain),
        "lookup_to_primary_key_p99": percentile(own, 0.99) / percentile(plain, 0.99),
        **(writers_on_both(folder, options.writers) if options.writers else {}),
    }


def missed(figures: dict[str, float]) -> list[str]:
    lost = [name for name in ("sqlite", "postgresql") if figures.get(f"{name}_writers_lost")]
    bars = [f"{name}: rows were lost" for name in lost]
    # Rows may repeat: a million of them are a little fewer failures.
    full = figures["rows"] >= FULL
    if full and figures["lookup_p99_ms"] > P99_BAR * 1e3:
        bars.append("the p99 of lookups is over 50 ms")
    if full and figures["inserts_per_second"] < INSERT_BAR:
        bars.append("fewer than 2000 inserts a second")
    return bars


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=FULL, help="how many failures are stored")
    arguments.add_argument("--lookups", type=int, default=LOOKUPS, help="how many of them are asked for")
    arguments.add_argument(
        "--writers", type=int, default=WRITERS, help="processes that write at the same time"
    )
    arguments.add_argument("--quick", action="store_true", help="20 000 rows")
    arguments.add_argument(
        "--json", type=Path, default=RESULTS / "memory.json", help="where to save the figures"
    )
    arguments.add_argument("--keep", type=Path, help="where to leave the database")
    options = arguments.parse_args()
    options.rows = 20_000 if options.quick else options.rows
    with tempfile.TemporaryDirectory(prefix="buildloop-memory-") as folder:
        figures = measure(options, Path(folder))
    for name, value in figures.items():
        print(
            f"{name.replace('_', ' '):28} {value:14,.3f}"
            if value % 1
            else f"{name.replace('_', ' '):28} {value:14,.0f}"
        )
    print(
        f"a lookup costs {figures['lookup_to_primary_key_p50']:,.0f} plain primary-key lookups (p50 to p50)"
    )
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_json(options.json, figures)
    for sentence in (problems := missed(figures)):
        print(f"missed: {sentence}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
