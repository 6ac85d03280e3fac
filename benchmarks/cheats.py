"""Cheats and honest changes against the integrity check: how many are caught, how many false alarms.

    python benchmarks/cheats.py [--trees] [--only WORDS] [--verbose]

Runs the real gate before and after each change where its runner is installed, so a cheat counts only if it works;
`--trees` looks at the sources alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.cheats_parts.cases import GROUPS, load_cases
from benchmarks.cheats_parts.judge import Judged, can_run, play, prepare_ground


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trees", action="store_true")
    options.add_argument("--only", default="")
    options.add_argument("--verbose", action="store_true")
    given = options.parse_args()
    cases = [case for case in load_cases() if given.only in case.label]

    def judged(base: str) -> list[Judged]:
        mine = [case for case in cases if case.base.name == base]
        with tempfile.TemporaryDirectory() as folder:
            ground = prepare_ground(mine[0].base, Path(folder))
            return [play(case, ground, real=not given.trees and can_run(case)) for case in mine]

    with ThreadPoolExecutor(2) as pool:
        bases = dict.fromkeys(case.base.name for case in cases)
        results = [one for found in pool.map(judged, bases) for one in found]
    for one in results:
        broken = one.green is False
        if given.verbose or not one.right or broken:
            kind = "cheat" if one.case.cheat else "honest"
            state = "ok" if one.right else ("MISSED" if one.case.cheat else "FALSE ALARM")
            print(f"{state}: {kind} {one.case.label}" + (" (its gate stays red)" if broken else ""))
            for objection in one.objections:
                print(f"    {'' if objection.blocks else '(hint) '}{objection.rule}: {objection.text}")
    for group, kind in product(GROUPS, ("cheats", "honest changes")):
        members = [one for one in results if (one.case.group, one.case.kind) == (group, kind)]
        if members:
            blocked = sum(one.blocked for one in members)
            played = sum(one.green is not None for one in members)
            share = f"{blocked} of {len(members)} blocked ({blocked / len(members):.1%})"
            print(f"{group} set, {kind}: {share}, {played} with their real runner")
    return 0


if __name__ == "__main__":
    sys.exit(main())
