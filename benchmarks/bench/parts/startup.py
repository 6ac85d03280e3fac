"""How long a command takes to begin: beside an empty Python, and beside the import of Prefect."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.bench.figure import Baseline, Figure, Measured, Sample, sample, timed
from benchmarks.bench.loop import run_loop
from benchmarks.bench.place import Place, buildloop, environment
from benchmarks.bench.scripted import make_task

GROUP = "Start-up"
LOG = "FAILED tests/test_refund.py::test_refund - assert 10 == 9\n1 failed in 0.10s\n"


def measure(place: Place) -> Measured:
    home = place.sub("startup")
    (home / "small.log").write_text(LOG)
    few, many = place.choose(3, 1), place.choose(15, 5)
    empty = _command(home, [sys.executable, "-c", "pass"], many)
    prefect = _command(home, [sys.executable, "-c", "import prefect"], few)
    helps = _command(home, buildloop("--help"), many)
    diagnoses = _command(home, buildloop("diagnose", str(home / "small.log")), many)
    on_server = sample([_first_call(home / f"served{n}", place.api) for n in range(few)])
    python = Baseline(what="`python -c pass`", sample=empty)
    imported = Baseline(what="`import prefect`", sample=prefect)
    # As promised since there is a diagnosis: three empty Pythons and 150 ms.
    limit = (3 * empty.middle + 0.15) / empty.middle
    figures = [
        Figure(group=GROUP, name="`buildloop --help`", unit="s", ours=helps, baseline=python),
        Figure(
            group=GROUP,
            name="`buildloop --help`, to Prefect",
            unit="s",
            ours=helps,
            baseline=imported,
            bar=1.0,
        ),
        Figure(
            group=GROUP,
            name="`buildloop diagnose` of a small log",
            unit="s",
            ours=diagnoses,
            baseline=python,
            bar=round(limit, 2),
            note="3 × `python -c pass` + 150 ms",
        ),
        Figure(
            group=GROUP,
            name="`buildloop run` to the first agent call, server running",
            unit="s",
            ours=on_server,
            baseline=imported,
        ),
    ]
    return Measured(figures=tuple(figures))


def _command(home: Path, command: list[str], times: int) -> Sample:
    """The first one is not counted: it compiles."""

    def run() -> None:
        subprocess.run(command, env=environment(home), cwd=home, check=True, stdout=subprocess.DEVNULL)

    run()
    return timed(run, times)


def _first_call(folder: Path, api: str) -> float:
    return run_loop(make_task(folder, 1), folder / "home", api, 120).first_call
