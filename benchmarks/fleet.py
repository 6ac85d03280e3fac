"""How much time a fleet costs besides its agents: 50 loops of 5 iterations with a 1 s agent, on SQLite and PostgreSQL.

Also one loop of 200 iterations with an agent that takes no time: what an iteration costs must not grow.

    python benchmarks/fleet.py [--loops 50] [--parallel 10] [--long 200] [--only sqlite|postgres|long]

The ideal is the agents' own time spread over the parallel runs; everything above it is git, gates, Prefect and Python.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from buildloop.events import read_events  # noqa: E402
from tests.support.postgres import postgres, postgres_programs  # noqa: E402
from tests.support.repos import make_repo  # noqa: E402

ITERATIONS, AGENT_SECONDS = 5, 1.0

# Counts in a file; the gate wants the count to reach the goal and names another test each time, as progress does.
AGENT = "#!/bin/sh\ncat >/dev/null\nsleep {seconds}\nn=$(($(cat count) + 1))\necho $n > count\n"
GATE = (
    "#!/bin/sh\nn=$(cat count)\n"
    'if [ "$n" -ge {wanted} ]; then echo "{wanted} passed in 0.01s"; exit 0; fi\n'
    'echo "FAILED tests/test_step.py::test_step_$n - AssertionError: step $n is missing"\n'
    'echo "1 failed, $n passed in 0.01s"\nexit 1\n'
)


def goal(folder: Path, name: str, wanted: int, seconds: float) -> dict[str, object]:
    folder.mkdir(parents=True, exist_ok=True)
    agent, gate = folder / "agent.sh", folder / "gate.sh"
    agent.write_text(AGENT.format(seconds=seconds))
    gate.write_text(GATE.format(wanted=wanted))
    agent.chmod(0o755)
    repo = make_repo(folder / name, {"count": "0\n"})
    return {
        "goal": "reach the count",
        "repo": str(repo),
        "test": [f"sh {gate}"],
        "agent_command": str(agent),
        "max_iterations": wanted,
        "context_window": 0,
    }


@contextmanager
def server(folder: Path, database: str | None) -> Iterator[None]:
    """The embedded one on SQLite, or one on PostgreSQL; this process is its client."""
    os.environ |= {
        "DO_NOT_TRACK": "1",
        "BUILDLOOP_STATE_DIR": str(folder / "state"),
        "PREFECT_LOGGING_LEVEL": "ERROR",
    }
    if database:
        os.environ["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = database
        os.environ["PREFECT_SERVER_DATABASE_MIGRATE_ON_START"] = "true"
    from buildloop.cli.prefect_api import start_prefect

    start_prefect(folder / "state").wait()
    yield


def measure_fleet(folder: Path, loops: int, parallel: int) -> dict[str, object]:
    from buildloop.fleet.request import FleetRequest
    from flows.fleet import fleet

    goals = [goal(folder / "work", f"repo{n}", ITERATIONS, AGENT_SECONDS) for n in range(loops)]
    asked = FleetRequest(goals=tuple(goals), parallel=parallel, fleet_id="bench")
    started, spent = time.monotonic(), os.times()
    result = fleet(asked, return_state=True).result(raise_on_failure=False)
    wall, now = time.monotonic() - started, os.times()
    ideal = math.ceil(loops / parallel) * ITERATIONS * AGENT_SECONDS
    iterations = sum(entry.iterations for entry in result.entries)
    return {
        "loops": loops,
        "parallel": parallel,
        "failures": sum(not entry.complete for entry in result.entries),
        "iterations": iterations,
        "wall_s": round(wall, 1),
        "ideal_s": ideal,
        "times_ideal": round(wall / ideal, 2),
        "overhead_per_iteration_s": round((wall - ideal) / max(1, iterations), 3),
        "own_cpu_per_iteration_s": round(
            (now.user + now.system - spent.user - spent.system) / max(1, iterations), 3
        ),
    }


def measure_growth(folder: Path, iterations: int) -> dict[str, object]:
    from buildloop.request import BuildRequest
    from flows.build_loop import build_loop

    asked = BuildRequest.model_validate({**goal(folder / "work", "long", iterations, 0), "run_id": "long"})
    build_loop(asked, return_state=True)
    ends = [e for e in read_events(asked.run_dir / "events.jsonl") if e["type"] == "loop.iteration_complete"]
    stamps = [_seconds(event["ts"]) for event in ends]
    took = [later - earlier for earlier, later in pairwise(stamps)]
    tenth = max(1, len(took) // 10)
    first, last = median(took[:tenth]), median(took[-tenth:])
    return {
        "iterations": len(ends),
        "first_tenth_s": round(first, 3),
        "last_tenth_s": round(last, 3),
        "growth": round(last / first, 2),
        "mean_s": round(mean(took), 3),
    }


def _seconds(stamp: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(stamp).timestamp()


def part(name: str, options: argparse.Namespace) -> dict[str, object]:
    """In a process of its own: Prefect keeps what it was told first."""
    words = [sys.executable, __file__, "--part", name, "--loops", str(options.loops)]
    words += ["--parallel", str(options.parallel), "--long", str(options.long)]
    with tempfile.TemporaryDirectory(prefix="buildloop-fleet-") as folder:
        environment = {**os.environ, "BENCH_FOLDER": folder}
        if name != "postgres":
            ran = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        else:
            programs = postgres_programs()
            if programs is None:
                return {"skipped": "no PostgreSQL with pg_trgm is installed"}
            with postgres(programs, Path(folder)) as url:
                environment["BENCH_DATABASE"] = url
                ran = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, object] = json.loads(ran.stdout.splitlines()[-1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--loops", type=int, default=50)
    parser.add_argument("--parallel", type=int, default=10)
    parser.add_argument("--long", type=int, default=200)
    parser.add_argument("--only", choices=("sqlite", "postgres", "long"))
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        folder = Path(os.environ["BENCH_FOLDER"])
        with server(folder, os.environ.get("BENCH_DATABASE")):
            long = options.part == "long"
            found = (
                measure_growth(folder, options.long)
                if long
                else measure_fleet(folder, options.loops, options.parallel)
            )
        print(json.dumps(found))
        return 0
    failed = False
    for name in [options.only] if options.only else ["sqlite", "postgres", "long"]:
        found = part(name, options)
        failed = failed or bool(found.get("failures"))
        print(f"{name:<10}", "  ".join(f"{key} {value}" for key, value in found.items()), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
