"""How much time a fleet costs besides its agents: 50 loops of 5 iterations with a 1 s agent, on SQLite and PostgreSQL.

Also one loop of 200 iterations with an agent that takes no time: what an iteration costs must not grow.

    python -m benchmarks.fleet [--loops 50] [--parallel 10] [--iterations 5] [--long 200]
                               [--only sqlite|postgres|long] [--json PATH] [--keep DIR]

The ideal is the agents' own time spread over the parallel loops; everything above it is git, gates, Prefect and Python.
Ends with 1 when a loop did not complete, or when the last 20 iterations of the long loop cost more than 1.2 times the
first 20.
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
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.bench.scripted import Task, make_task, overheads  # noqa: E402
from buildloop.files import write_json  # noqa: E402
from tests.support.postgres import postgres, postgres_programs  # noqa: E402

AGENT_SECONDS = 1.0
EDGE, GROWTH_BAR = 20, 1.2
PARTS = ("sqlite", "postgres", "long")


def goal(task: Task) -> dict[str, object]:
    return {
        "goal": "reach the count",
        "repo": str(task.repo),
        "test": [str(task.gate)],
        "agent_command": str(task.agent),
        "max_iterations": task.wanted,
        "context_window": 0,
    }


def use_own_server(folder: Path, database: str | None) -> None:
    """The embedded one, on SQLite or on the given PostgreSQL; this process is its client."""
    os.environ |= {
        "DO_NOT_TRACK": "1",
        "BUILDLOOP_STATE_DIR": str(folder / "state"),
        "BUILDLOOP_MEMORY_URL": str(folder / "memory.db"),
        "PREFECT_LOGGING_LEVEL": "ERROR",
    }
    os.environ.pop("PREFECT_API_URL", None)
    if database:
        os.environ["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = database
        os.environ["PREFECT_SERVER_DATABASE_MIGRATE_ON_START"] = "true"
    from buildloop.cli.prefect_api import start_prefect

    start_prefect(folder / "state").wait()


def measure_fleet(folder: Path, loops: int, parallel: int, iterations: int) -> dict[str, object]:
    from buildloop.fleet.request import FleetRequest
    from flows.fleet import fleet

    tasks = [make_task(folder / "work" / f"loop{n}", iterations, seconds=AGENT_SECONDS) for n in range(loops)]
    asked = FleetRequest(goals=tuple(goal(task) for task in tasks), parallel=parallel, fleet_id="bench")
    started, spent = time.monotonic(), os.times()
    result = fleet(asked, return_state=True).result(raise_on_failure=False)
    wall, now = time.monotonic() - started, os.times()
    ideal = math.ceil(loops / parallel) * iterations * AGENT_SECONDS
    done = sum(entry.iterations for entry in result.entries)
    own = [seconds for task in tasks for seconds in overheads(task.calls)]
    return {
        "loops": loops,
        "parallel": parallel,
        "failures": sum(not entry.complete for entry in result.entries),
        "why": sorted(
            {f"{entry.outcome}: {entry.explanation}" for entry in result.entries if not entry.complete}
        ),
        "iterations": done,
        "wall_s": round(wall, 1),
        "ideal_s": ideal,
        "times_ideal": round(wall / ideal, 2),
        "overhead_per_iteration_s": round((wall - ideal) * parallel / max(1, done), 3),
        "between_calls_median_s": round(median(own), 3) if own else None,
        "own_cpu_per_iteration_s": round(
            (now.user + now.system - spent.user - spent.system) / max(1, done), 3
        ),
    }


def measure_growth(folder: Path, iterations: int) -> dict[str, object]:
    from buildloop.request import BuildRequest
    from flows.build_loop import build_loop

    task = make_task(folder / "work" / "long", iterations)
    asked = BuildRequest.model_validate({**goal(task), "run_id": "long"})
    build_loop(asked, return_state=True)
    took = overheads(task.calls)
    edge = max(1, min(EDGE, len(took) // 2))
    first, last = median(took[:edge]), median(took[-edge:])
    return {
        "iterations": len(took) + 1,
        f"first_{edge}_s": round(first, 3),
        f"last_{edge}_s": round(last, 3),
        "growth": round(last / first, 2),
        "median_s": round(median(took), 3),
    }


def part(name: str, options: argparse.Namespace) -> dict[str, object]:
    """In a process of its own: Prefect keeps what it was told first."""
    words = [sys.executable, __file__, "--part", name, "--loops", str(options.loops)]
    words += ["--parallel", str(options.parallel), "--long", str(options.long)]
    words += ["--iterations", str(options.iterations)]
    with _folder(options.keep, name) as folder:
        environment = {**os.environ, "BENCH_FOLDER": str(folder)}
        if name != "postgres":
            return _answer(words, environment)
        programs = postgres_programs()
        if programs is None:
            return {"skipped": "no PostgreSQL with pg_trgm is installed"}
        with postgres(programs, folder) as url:
            return _answer(words, {**environment, "BENCH_DATABASE": url})


@contextmanager
def _folder(keep: Path | None, name: str) -> Iterator[Path]:
    if keep is not None:
        (keep / name).mkdir(parents=True)
        yield (keep / name).absolute()
        return
    with tempfile.TemporaryDirectory(prefix="buildloop-fleet-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _answer(words: list[str], environment: dict[str, str]) -> dict[str, object]:
    ran = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, object] = json.loads(ran.stdout.splitlines()[-1])
    return found


def missed(found: dict[str, object]) -> bool:
    growth = found.get("growth", 0)
    return bool(found.get("failures")) or (isinstance(growth, float) and growth > GROWTH_BAR)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--loops", type=int, default=50)
    parser.add_argument("--parallel", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--long", type=int, default=200)
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--json", type=Path, help="where to save the figures")
    parser.add_argument(
        "--keep", type=Path, help="leave repositories, runs and the server's log in this new folder"
    )
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        folder = Path(os.environ["BENCH_FOLDER"])
        use_own_server(folder, os.environ.get("BENCH_DATABASE"))
        if options.part == "long":
            found = measure_growth(folder, options.long)
        else:
            found = measure_fleet(folder, options.loops, options.parallel, options.iterations)
        print(json.dumps(found))
        return 0
    all_found = {}
    for name in options.only or PARTS:
        all_found[name] = found = part(name, options)
        told = {key: value for key, value in found.items() if value not in (None, [])}
        print(f"{name:<10}", "  ".join(f"{key} {value}" for key, value in told.items()), flush=True)
    if options.json:
        write_json(options.json, all_found)
    return int(any(missed(found) for found in all_found.values()))


if __name__ == "__main__":
    sys.exit(main())
