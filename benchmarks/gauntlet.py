"""The gauntlet: small real repositories, real gates and agents that react, under three policies in one run.

    python benchmarks/gauntlet.py [--scenarios DIR] [--only NAME] [--json FILE] [--keep DIR]

Agents are scripted (docs/scripted-agent.md); no model is called. See benchmarks/scenarios/README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.gauntlet_parts.outcome import GOOD, Ended, Outcome, judged
from benchmarks.gauntlet_parts.product import run_product
from benchmarks.gauntlet_parts.scenario import Scenario, load_scenarios
from benchmarks.gauntlet_parts.seed_rules import react_by_the_seeds
from benchmarks.gauntlet_parts.tables import (
    TOTAL_HEADINGS,
    Gauntlet,
    as_json,
    as_markdown,
    failed,
    scenario_rows,
    total_rows,
)
from benchmarks.gauntlet_parts.while_loop import no_reaction, run_while_loop
from buildloop.cli.prefect_api import start_prefect
from buildloop.errors import InputError
from buildloop.files import write_atomic, write_json

HERE = Path(__file__).parent
RESULTS = HERE / "results"

Policy = Callable[[Scenario, Path], Ended]


def policies(state_dir: Path) -> Mapping[str, Policy]:
    """In the order of the tables; the ratio is of the last to the first."""
    return {
        "plain retry": lambda scenario, place: run_while_loop(scenario, place, no_reaction),
        "seeds' rules": lambda scenario, place: run_while_loop(scenario, place, react_by_the_seeds),
        "buildloop": lambda scenario, place: run_product(scenario, place, state_dir),
    }


def run_gauntlet(
    scenarios: Sequence[Scenario], running: Mapping[str, Policy], place: Path, console: Console
) -> Gauntlet:
    outcomes: dict[tuple[str, str], Outcome] = {}
    skipped: dict[str, str] = {}
    done: list[Scenario] = []
    for number, scenario in enumerate(scenarios, start=1):
        console.print(f"[{number}/{len(scenarios)}] {scenario.name}", markup=False)
        if missing := scenario.missing_programs:
            skipped[scenario.name] = f"{', '.join(missing)} not installed"
            continue
        done.append(scenario)
        for outcome in _under_all(scenario, running, place / scenario.name):
            outcomes[scenario.name, outcome.policy] = outcome
            console.print(_line(outcome), markup=False)
    return Gauntlet(tuple(done), tuple(running), outcomes, skipped)


def _under_all(scenario: Scenario, running: Mapping[str, Policy], place: Path) -> list[Outcome]:
    """The loops to compare with side by side, the product after them and alone: it is the one that is timed."""

    def under(name: str) -> Outcome:
        root = place / name.replace(" ", "-").replace("'", "")
        return judged(scenario, name, running[name](scenario, root), root)

    *compared, product = running
    with ThreadPoolExecutor() as pool:
        outcomes = list(pool.map(under, compared))
    return [*outcomes, under(product)]


def _line(outcome: Outcome) -> str:
    sign = "ok" if outcome.mark in GOOD else "--"
    return (
        f"    {sign} {outcome.policy:13} {outcome.mark:12} {outcome.calls:3} calls  {outcome.seconds:5.1f} s"
    )


def show(gauntlet: Gauntlet, console: Console) -> None:
    _print(console, "Totals", TOTAL_HEADINGS, total_rows(gauntlet))
    headings = ("scenario", "expected", *gauntlet.policies)
    _print(console, "Outcome, agent calls", headings, scenario_rows(gauntlet, gauntlet.counted))
    if gauntlet.apart:
        _print(console, "Counted apart", headings, scenario_rows(gauntlet, gauntlet.apart))
    for name, reason in gauntlet.skipped.items():
        console.print(f"skipped: {name} ({reason})", markup=False)
    console.print(f"agent calls, buildloop : plain retry = {gauntlet.call_ratio:.2f}", markup=False)
    for outcome in failed(gauntlet, gauntlet.policies[-1]):
        console.print(
            f"buildloop failed {outcome.scenario}: {outcome.mark} ({outcome.reason}): {outcome.note}",
            markup=False,
        )


def _print(console: Console, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(*headings, title=title)
    for row in rows:
        table.add_row(*row)
    console.print(table)


@contextlib.contextmanager
def _place(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True)
        yield keep.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="gauntlet-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _chosen(folder: Path, only: Sequence[str]) -> list[Scenario]:
    scenarios = load_scenarios(folder)
    unknown = set(only) - {scenario.name for scenario in scenarios}
    if unknown:
        raise InputError(f"there is no scenario {', '.join(sorted(unknown))} in {folder}")
    return [scenario for scenario in scenarios if not only or scenario.name in only]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--scenarios", type=Path, default=HERE / "scenarios", help="folder of scenarios")
    arguments.add_argument("--only", action="append", default=[], metavar="NAME", help="run only this one")
    arguments.add_argument("--json", type=Path, default=RESULTS / "gauntlet.json", help="where to save JSON")
    arguments.add_argument(
        "--keep", type=Path, help="leave repositories, prompts and logs in this new folder"
    )
    options = arguments.parse_args()
    console = Console(width=140)
    try:
        scenarios = _chosen(options.scenarios, options.only)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    with _place(options.keep) as place:
        starting = start_prefect(place / "state")
        starting.wait()
        gauntlet = run_gauntlet(scenarios, policies(place / "state"), place, console)
    show(gauntlet, console)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_json(options.json, as_json(gauntlet))
    write_atomic(options.json.with_suffix(".md"), as_markdown(gauntlet))
    return 0


if __name__ == "__main__":
    sys.exit(main())
