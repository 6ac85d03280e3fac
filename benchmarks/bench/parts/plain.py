"""A plain `while` loop in Bash with the same agent and gate: nothing can be faster, so it is the bound."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass

from benchmarks.bench.figure import Baseline, Figure, Measured, one, sample
from benchmarks.bench.loop import run_loop
from benchmarks.bench.place import Place
from benchmarks.bench.scripted import Call, Task, make_task, overheads

GROUP = "Beside a plain loop"
AGENT_SECONDS = 2.0
BAR = 1.05
OWN_COST_MS = 60.0


@dataclass(frozen=True, slots=True)
class PlainRun:
    wall: float
    cpu: float
    calls: tuple[Call, ...]


def plain_loop(task: Task) -> PlainRun:
    started, before = time.time(), os.times()
    subprocess.run(["bash", str(task.plain_loop())], check=True)
    wall, after = time.time() - started, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return PlainRun(wall, cpu, tuple(task.calls))


def measure(place: Place) -> Measured:
    """One after the other: at the same time they would take the machine from each other."""
    folder, wanted = place.sub("plain"), place.choose(50, 4)
    plain = plain_loop(make_task(folder / "bash", wanted, seconds=AGENT_SECONDS))
    longest = 3 * plain.wall
    ours = run_loop(
        make_task(folder / "ours", wanted, seconds=AGENT_SECONDS), folder / "home", place.api, longest
    )
    if not ours.ended_well:
        raise RuntimeError(
            f"{ours.iterations} of {wanted} iterations in {ours.wall:.0f} s, Bash took {plain.wall:.0f} s"
        )
    bash = Baseline(what=f"Bash loop, {wanted} × {AGENT_SECONDS:.0f} s agent", sample=one(plain.wall))
    inner = Baseline(what="Bash loop, first agent to last gate", sample=one(_between(plain.calls)))
    figures = (
        Figure(
            group=GROUP,
            name=f"whole command, {wanted} iterations",
            unit="s",
            ours=one(ours.wall),
            baseline=bash,
            bar=None if place.quick else BAR,
            note="with start-up, baseline, proof and report",
        ),
        Figure(
            group=GROUP,
            name="the loop alone: first agent call to last gate",
            unit="s",
            ours=one(ours.between_calls),
            baseline=inner,
            bar=BAR,
        ),
        Figure(
            group=GROUP,
            name=f"own cost of an iteration beside a {AGENT_SECONDS:.0f} s agent",
            unit="ms",
            ours=sample([1000 * seconds for seconds in ours.overheads]),
            baseline=Baseline(
                what="Bash loop", sample=sample([1000 * seconds for seconds in overheads(list(plain.calls))])
            ),
            bar_value=OWN_COST_MS,
            note="the gate runs twice: the second run is the probe",
        ),
    )
    return Measured(figures=figures)


def _between(calls: tuple[Call, ...]) -> float:
    return calls[-1].ended - calls[0].began
