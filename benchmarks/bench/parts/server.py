"""The embedded server beside Prefect's own: the first start makes a database, later ones find it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.bench.figure import Baseline, Figure, Measured, sample
from benchmarks.bench.place import Place
from benchmarks.bench.servers import embedded_start, prefect_server

GROUP = "Server start"
BAR = 1.3


def measure(place: Place) -> Measured:
    """Ours and Prefect's in turn, so that a slow moment of the machine meets both."""
    folder, rounds = place.sub("servers"), place.choose(2, 1)
    firsts, laters, plain_firsts, plain_laters, ready = [], [], [], [], []
    for number in range(rounds):
        ours, theirs = folder / f"ours{number}", folder / f"theirs{number}"
        plain_firsts.append(_plain(theirs))
        firsts.append(embedded_start(ours, "server"))
        plain_laters.append(_plain(theirs))
        laters.append(embedded_start(ours, "server"))
        ready.append(embedded_start(ours, "flow"))
    first = Baseline(what="`prefect server start`, new home", sample=sample(plain_firsts))
    later = Baseline(what="`prefect server start`, same home", sample=sample(plain_laters))
    figures = (
        Figure(
            group=GROUP, name="embedded, first start", unit="s", ours=sample(firsts), baseline=first, bar=BAR
        ),
        Figure(
            group=GROUP, name="embedded, later start", unit="s", ours=sample(laters), baseline=later, bar=BAR
        ),
        Figure(
            group=GROUP,
            name="later start, until the flow can begin",
            unit="s",
            ours=sample(ready),
            baseline=later,
            note="with Prefect imported in the command",
        ),
    )
    return Measured(figures=figures)


def _plain(home: Path) -> float:
    with prefect_server(home) as started:
        return started.seconds
