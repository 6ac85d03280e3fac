"""Kills a run again and again and compares what comes out with an undisturbed run.

    python benchmarks/chaos.py [--kills 50] [--seed 1] [--json FILE]

A run of twelve iterations is killed with SIGKILL at random points of its progress (the process; its whole process
group; the Prefect server) and resumed each time. In the end tree, commits, iterations and cost must equal those of the
undisturbed run, and every finished iteration must have been executed once.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.chaos_parts.storm import run_once

BUGS = 12


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="buildloop-chaos-", ignore_cleanup_errors=True) as folder:
        calm, _ = run_once(Path(folder) / "calm", BUGS, 0, dice)
        print("undisturbed:", calm)
        killed, rounds, different = 0, 0, []
        while killed < options.kills:
            rounds += 1
            place, left = Path(folder) / f"storm-{rounds}", options.kills - killed
            stormy, delivered = run_once(place, BUGS, left, dice, note=_show)
            killed += delivered
            print(f"\nafter {delivered} kills:", stormy)
            if stormy != calm:
                different.append(asdict(stormy))
    print(f"{killed} kills in {rounds} runs: {f'{len(different)} runs differ' if different else 'all equal'}")
    if options.json:
        options.json.write_text(
            json.dumps({"calm": asdict(calm), "kills": killed, "different": different}, indent=2)
        )
    return 1 if different else 0


def _show(text: str) -> None:
    print(f"\r{text}  ", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
