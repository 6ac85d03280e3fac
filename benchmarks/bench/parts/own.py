"""Diagnosis, memory, recovery and fleets: short runs of the benchmarks they have of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from benchmarks.bench.figure import Baseline, Figure, Measured, one
from benchmarks.bench.place import ROOT, Place, environment

LONGEST = 240
# A plain bug, a flaky test, an agent that goes round in circles.
SCENARIOS = ("one_of_five_bugs", "flaky_one_in_two", "oscillates")
QUICK_SCENARIOS = SCENARIOS[:1]


def diagnosis(place: Place) -> Measured:
    found = _ran(place, "diagnose", "--megabytes", str(place.choose(50, 10)), "--no-start-up")
    scan = Baseline(what="one plain `re` scan of the same bytes", sample=one(found["scan_s"]))
    note = f"{found['megabytes'] / found['diagnosis_s']:,.0f} MB/s; all of it: `make bench-diagnose`"
    name = f"a log of {found['megabytes']:,.0f} MB"
    return _measured(
        Figure(
            group="Diagnosis", name=name, unit="s", ours=one(found["diagnosis_s"]), baseline=scan, note=note
        )
    )


def memory(place: Place) -> Measured:
    rows = place.choose(20_000, 3_000)
    few = ("--lookups", str(place.choose(300, 100)), "--writers", str(place.choose(4, 0)))
    found = _ran(place, "memory", "--rows", str(rows), *few)
    plain = Baseline(what="one row by its key", sample=one(found["primary_key_p50_ms"]))
    tail = Baseline(what="one row by its key, p99", sample=one(found["primary_key_p99_ms"]))
    more = "a million: `make bench-memory`"
    figures = [
        Figure(
            group="Memory of failures",
            name=f"lookup among {rows:,}, median",
            unit="ms",
            ours=one(found["lookup_p50_ms"]),
            baseline=plain,
            note=more,
        ),
        Figure(
            group="Memory of failures",
            name="lookup, p99",
            unit="ms",
            ours=one(found["lookup_p99_ms"]),
            baseline=tail,
            bar_value=50,
        ),
    ]
    return _measured(*figures)


def gauntlet(place: Place) -> Measured:
    chosen = QUICK_SCENARIOS if place.quick else SCENARIOS
    found = _ran(place, "gauntlet", *(word for name in chosen for word in ("--only", name)))
    calls = {
        name: sum(o["calls"] for o in found["outcomes"] if o["policy"] == name) for name in _policies(found)
    }
    first, last = calls["plain retry"], calls["buildloop"]
    return _measured(
        Figure(
            group="Recovery",
            name=f"agent calls in {len(chosen)} scenarios",
            unit="",
            ours=one(last),
            baseline=Baseline(what="plain retry", sample=one(first)),
            bar=1.0,
            note="all scenarios: `make gauntlet`",
        )
    )


def fleet(place: Place) -> Measured:
    loops, parallel, iterations = place.choose(10, 2), place.choose(5, 2), place.choose(3, 2)
    words = ["--loops", str(loops), "--parallel", str(parallel), "--iterations", str(iterations)]
    found = _ran(place, "fleet", "--only", "sqlite", *words)["sqlite"]
    figures = [
        Figure(
            group="Fleet",
            name=f"{loops} loops of {iterations} iterations, {parallel} at a time, SQLite",
            unit="s",
            ours=one(found["wall_s"]),
            baseline=Baseline(what="the agents' own time", sample=one(found["ideal_s"])),
            note="50 loops, SQLite and PostgreSQL: `make bench-fleet`",
        ),
        Figure(
            group="Fleet",
            name="loops that failed",
            unit="",
            ours=one(found["failures"]),
            baseline=Baseline(what="loops", sample=one(loops)),
            bar_value=0,
            note=", ".join(found["why"]),
        ),
    ]
    return _measured(*figures)


def _measured(*figures: Figure) -> Measured:
    return Measured(figures=figures)


def _policies(found: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(outcome["policy"] for outcome in found["outcomes"]))


def _ran(place: Place, name: str, *words: str) -> dict[str, Any]:
    """The figures of one benchmark, run as a command. Its exit code tells of bars for full runs; ours are beside."""
    home = place.sub(f"own-{name}")
    target = home / "figures.json"
    command = [sys.executable, "-m", f"benchmarks.{name}", *words, "--json", str(target)]
    ran = subprocess.run(
        command, env=environment(home), cwd=ROOT, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    if not target.exists():
        last = (ran.stderr or ran.stdout).strip().splitlines()[-1:]
        raise RuntimeError(f"benchmarks/{name}.py ended with {ran.returncode}: {''.join(last)}")
    found: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    return found
