"""Generated inputs for everything that reads what others wrote: no traceback, no hang, round trips exact.

    python benchmarks/fuzz.py [--seconds 1200] [--examples 10000] [--seed N] [--only NAME]

Every target of `tests/fuzz` gets that many inputs, in rounds, until the time is over; then what is missing is said.
Ends with 1 when an input broke something: it is shrunk and shown.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from tests.fuzz.target import try_many
from tests.fuzz.targets import TARGETS

ROUND = 250


@dataclass(frozen=True)
class Round:
    target: int
    tried: int
    seconds: float
    failure: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS") or 1200))
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    parser.add_argument("--only", default="", help="part of a target's name")
    options = parser.parse_args()
    chosen = [number for number, target in enumerate(TARGETS) if options.only in target.name]
    print(
        f"{len(chosen)} targets, {options.examples} inputs each, at most {options.seconds:g} s, seed {options.seed}"
    )
    rounds = run_all(chosen, options.examples, time.monotonic() + options.seconds, options.seed)
    return report(chosen, rounds, options.examples)


def run_all(chosen: list[int], examples: int, deadline: float, seed: int) -> list[Round]:
    """A round of each target in turn, so that a short time is shared by all."""
    done: list[Round] = []
    plan = [(number, start) for start in range(0, examples, ROUND) for number in chosen]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(run_round, number, min(ROUND, examples - start), seed + start, deadline)
            for number, start in plan
        ]
        for job in as_completed(jobs):
            done.append(job.result())
    return done


def run_round(number: int, examples: int, seed: int, deadline: float) -> Round:
    started = time.monotonic()
    if started > deadline:
        return Round(number, 0, 0.0)
    try:
        try_many(TARGETS[number], examples, seed)
    except BaseException:  # whatever it is, it is what we look for
        return Round(number, examples, time.monotonic() - started, traceback.format_exc())
    return Round(number, examples, time.monotonic() - started)


def report(chosen: list[int], rounds: list[Round], examples: int) -> int:
    broken = missing = 0
    for number in chosen:
        mine = [one for one in rounds if one.target == number]
        tried, seconds = sum(one.tried for one in mine), sum(one.seconds for one in mine)
        failures = [one.failure for one in mine if one.failure]
        broken, missing = broken + bool(failures), missing + (tried < examples)
        print(
            f"{TARGETS[number].name:28} {tried:6} inputs {seconds:7.1f} s  {'BROKEN' if failures else 'ok'}"
        )
        for failure in failures[:1]:
            print(failure[-3000:], file=sys.stderr)
    short = f"; {missing} have had fewer than {examples} inputs, give more time" if missing else ""
    print(f"{len(chosen) - broken} of {len(chosen)} targets hold{short}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
