"""Everything that is measured, in one command.

    python -m benchmarks [--quick] [--only PART] [--no-page]
    python -m benchmarks --compare ONE TWO        names or paths of runs, or `before last`
    python -m benchmarks --page                   write docs/performance.md anew from the last full run

A full run takes about 10 minutes on two idle cores, `--quick` 90 seconds. It is saved in benchmarks/history (a quick
one in benchmarks/results/quick), and a full one is shown in docs/performance.md. Ends with 1 where a bar is missed or
something could not be measured. The bars of a quick run are those that make sense for it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.bench.figure import Measured
from benchmarks.bench.history import Entry, entries, find, load, run_before, save
from benchmarks.bench.machine import code_of, commit_of, now, this_machine
from benchmarks.bench.page import PAGE, write_page
from benchmarks.bench.parts import context, iterations, own, plain, server, sizes, startup
from benchmarks.bench.place import ROOT, Place
from benchmarks.bench.servers import Server, prefect_server
from benchmarks.bench.table import bar, comparison, shown
from buildloop.errors import InputError


@dataclass(frozen=True, slots=True)
class Part:
    """`seconds` and `quick_seconds` are what it takes on two idle cores."""

    name: str
    measure: Callable[[Place, Server], Measured]
    seconds: int
    quick_seconds: int


# The most important ones first: whoever breaks off has seen them.
PARTS = (
    Part("start-up", lambda place, _: startup.measure(place), 45, 12),
    Part("context", lambda place, _: context.measure(place), 2, 2),
    Part("iterations", lambda place, up: iterations.measure(place, up.pid), 60, 12),
    Part("plain loop", lambda place, _: plain.measure(place), 215, 24),
    Part("sizes", lambda place, _: sizes.measure(place), 80, 13),
    Part("server", lambda place, _: server.measure(place), 70, 0),
    Part("diagnosis", lambda place, _: own.diagnosis(place), 8, 3),
    Part("memory", lambda place, _: own.memory(place), 15, 4),
    Part("recovery", lambda place, _: own.gauntlet(place), 25, 0),
    Part("fleet", lambda place, _: own.fleet(place), 30, 0),
)
# Until the Prefect server that all of them use is up.
SERVER_SECONDS = 10


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [part.name for part in PARTS]
    parser.add_argument("--quick", action="store_true", help="the most important figures, in 90 seconds")
    parser.add_argument("--only", choices=names, action="append", help="this part only; it is not saved")
    parser.add_argument("--no-page", action="store_true", help="leave docs/performance.md as it is")
    parser.add_argument("--compare", nargs=2, metavar=("ONE", "TWO"), help="two runs beside each other")
    parser.add_argument("--page", action="store_true", help="only write the page, from the last full run")
    options = parser.parse_args(arguments)
    try:
        if options.compare:
            print(comparison(*(load(find(word)) for word in options.compare)))
            return 0
        if options.page:
            return _page_again()
        return _measure_all(options)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2


def _page_again() -> int:
    known = entries(quick=False)
    if not known:
        raise InputError("there is no full run yet; make one with 'make bench'")
    entry = load(known[-1])
    write_page(entry, run_before(entry))
    return 0


def _measure_all(options: argparse.Namespace) -> int:
    parts = [part for part in PARTS if part.name in options.only] if options.only else list(PARTS)
    if options.quick and not options.only:
        parts = [part for part in parts if part.quick_seconds]
    entry = measure(parts, quick=options.quick)
    if not options.only:
        before, path = run_before(entry), save(entry)
        print(f"\nsaved as {path.relative_to(ROOT)}")
        if not options.quick and not options.no_page:
            write_page(entry, before)
            print(f"shown in {PAGE.relative_to(ROOT)}")
    return _verdict(entry)


def measure(parts: Sequence[Part], *, quick: bool) -> Entry:
    machine, at, started = this_machine(), now(), time.monotonic()
    commit, code = commit_of(ROOT), code_of(ROOT)
    expected = _in_words(SERVER_SECONDS + _seconds(parts, quick))
    print(f"{len(parts)} parts, about {expected} on two idle cores; leave the machine alone meanwhile")
    if machine.busy:
        print(f"warning: the machine is busy already (load {machine.load_before}); times will be too long")
    with tempfile.TemporaryDirectory(prefix="buildloop-bench-", ignore_cleanup_errors=True) as folder:
        place = Place(Path(folder), quick)
        print("a Prefect server for all of them …", flush=True)
        with prefect_server(place.sub("server")) as running:
            found, failed, took = _one_after_the_other(parts, replace(place, api=running.url), running)
    return Entry(
        at=at,
        commit=commit,
        code=code,
        quick=quick,
        seconds=round(time.monotonic() - started, 1),
        machine=machine,
        measured=found,
        failed=failed,
        took=took,
    )


def _one_after_the_other(
    parts: Sequence[Part], place: Place, running: Server
) -> tuple[Measured, dict[str, str], dict[str, float]]:
    """The figures; why a part has none; how long each took."""
    found, failed, took = Measured(), {}, {}
    for number, part in enumerate(parts, start=1):
        left = _in_words(_seconds(parts[number - 1 :], place.quick))
        print(f"[{number}/{len(parts)}] {part.name} · about {left} left", flush=True)
        began = time.monotonic()
        try:
            measured = part.measure(place, running)
        except Exception as error:  # one part that cannot be measured must not take the others along
            failed[part.name] = f"{type(error).__name__}: {error}"
            print(f"    not measured: {failed[part.name]}", flush=True)
        else:
            found += measured
            _tell(measured)
        took[part.name] = round(time.monotonic() - began, 1)
        print(f"    in {took[part.name]:.0f} s", flush=True)
    return found, failed, took


def _seconds(parts: Sequence[Part], quick: bool) -> int:
    return sum(part.quick_seconds if quick else part.seconds for part in parts)


def _tell(measured: Measured) -> None:
    for figure in measured.figures:
        mark = {True: "ok  ", False: "MISS", None: "    "}[figure.met]
        ratio = f"{figure.ratio:.2f} × {figure.baseline.what}" if figure.ratio else ""
        limit = f"  [bar {bar(figure)}]" if figure.met is not None else ""
        note = f"  ({figure.note})" if figure.note else ""
        print(
            f"    {mark} {figure.name}: {shown(figure.ours, figure.unit)}  {ratio}{limit}{note}", flush=True
        )


def _verdict(entry: Entry) -> int:
    bars = [figure for figure in entry.measured.figures if figure.met is not None]
    print(f"{len(bars) - len(entry.missed)} of {len(bars)} bars met in {_in_words(entry.seconds)}")
    for figure in entry.missed:
        print(f"missed: {figure.key}: {shown(figure.ours, figure.unit)}, {bar(figure)}")
    return int(bool(entry.missed or entry.failed))


def _in_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} minutes"
