"""What an iteration costs besides agent and gate, over a long run: time, processor, memory, disk, open files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench.figure import Baseline, Figure, Measured, Sample, Series, one, sample
from benchmarks.bench.loop import Look, LoopRun, run_loop
from benchmarks.bench.parts.plain import OWN_COST_MS, plain_loop
from benchmarks.bench.place import Place
from benchmarks.bench.scripted import make_task, overheads

GROUP, RESOURCES = "Cost per iteration", "Memory, disk, files"
GROWTH = 1.2
EDGE, PLAIN = 20, 50
LONGEST = {True: 20.0, False: 100.0}


def measure(place: Place, server_pid: int) -> Measured:
    folder, wanted = place.sub("iterations"), place.choose(501, 31)
    run = run_loop(
        make_task(folder / "long", wanted), folder / "home", place.api, LONGEST[place.quick], server_pid
    )
    plain = plain_loop(make_task(folder / "plain", PLAIN))
    took = [1000 * seconds for seconds in run.overheads]
    if len(took) < 2:
        raise RuntimeError("the loop was not done with its first iterations in time")
    bash = Baseline(
        what="plain Bash loop", sample=sample([1000 * seconds for seconds in overheads(list(plain.calls))])
    )
    return Measured(
        figures=(*_costs(took, bash, wanted - 1), *_processor(run, plain.cpu), *_resources(run)),
        series=(
            Series(name="own cost", unit="ms", points=tuple(enumerate(took, start=1))),
            Series(
                name="memory",
                unit="MB",
                points=_memory(run),
            ),
        ),
    )


def _memory(run: LoopRun) -> tuple[tuple[float, float], ...]:
    return tuple((look.iteration, look.rss_mb) for look in run.looks if look.iteration)


def _costs(took: Sequence[float], bash: Baseline, wanted: int) -> list[Figure]:
    """The first iterations beside the plain loop, later ones beside the first."""
    edge = min(EDGE, len(took) // 2)
    first = Baseline(what=f"iterations 1–{edge} of this run", sample=sample(took[:edge]))
    figures = [
        Figure(
            group=GROUP,
            name="own cost, all iterations",
            unit="ms",
            ours=sample(took),
            baseline=bash,
            bar_value=OWN_COST_MS,
        ),
        Figure(group=GROUP, name="at iteration 1", unit="ms", ours=one(took[0]), baseline=first),
    ]
    figures += [
        Figure(
            group=GROUP, name=f"at iteration {number}", unit="ms", ours=_around(took, number), baseline=first
        )
        for number in (10, 100)
        if number + 5 <= len(took)
    ]
    reached = "" if len(took) >= wanted else f"stopped at iteration {len(took)} of {wanted}: out of time"
    last = Figure(
        group=GROUP,
        name=f"growth: the last {edge} of {len(took)} iterations",
        unit="ms",
        ours=sample(took[-edge:]),
        baseline=first,
        bar=GROWTH,
        note=reached,
    )
    return [*figures, last]


def _around(took: Sequence[float], number: int) -> Sample:
    return sample(took[number - 5 : number + 5])


def _processor(run: LoopRun, plain_cpu: float) -> list[Figure]:
    """Processor time hardly depends on who else uses the machine. The looks leave out the start of the command."""
    seen = [look for look in run.looks if look.iteration >= 1]
    if len(seen) < 2 or seen[-1].iteration == seen[0].iteration:
        return []
    steps = seen[-1].iteration - seen[0].iteration
    own = 1000 * (seen[-1].cpu_seconds - seen[0].cpu_seconds) / steps
    bash = Baseline(what="plain Bash loop", sample=one(1000 * plain_cpu / PLAIN))
    return [
        Figure(
            group=GROUP,
            name="processor time of the command",
            unit="ms",
            ours=one(own),
            baseline=bash,
            note="with git, agent and gate",
        ),
        Figure(
            group=GROUP,
            name="processor time of the server",
            unit="ms",
            ours=one(1000 * run.server_cpu / run.iterations),
            baseline=bash,
        ),
    ]


def _resources(run: LoopRun) -> list[Figure]:
    first, last = run.look_at(1), run.looks[-1]
    if first is None:
        return []
    memory = Baseline(what="after iteration 1", sample=one(first.rss_mb))
    files = Baseline(what="after iteration 1", sample=one(first.open_files))
    figures = [
        Figure(
            group=RESOURCES,
            name=f"memory after iteration {look.iteration}",
            unit="MB",
            ours=one(look.rss_mb),
            baseline=memory,
            bar=GROWTH,
        )
        for look in _reached(run, 100, last.iteration)
    ]
    figures.append(
        Figure(
            group=RESOURCES,
            name=f"open files after iteration {last.iteration}",
            unit="",
            ours=one(last.open_files),
            baseline=files,
            bar=GROWTH,
        )
    )
    return [*figures, *_disk(run)]


def _reached(run: LoopRun, *iterations: int) -> list[Look]:
    return [look for number in dict.fromkeys(iterations) if (look := run.look_at(number))]


def _disk(run: LoopRun) -> list[Figure]:
    """What the run has kept for each iteration, early ones beside late ones. Git's objects are the user's work."""
    folders = sorted(
        (run.state / "runs").glob("*/iterations/*-*"), key=lambda path: int(path.name.split("-")[1])
    )
    kept = [_size(folder) / 1000 for folder in folders[1:]]
    if len(kept) < 4:
        return []
    edge = min(EDGE, len(kept) // 2)
    early = Baseline(what=f"iterations 1–{edge} of this run", sample=sample(kept[:edge]))
    return [
        Figure(
            group=RESOURCES,
            name="disk for an iteration, the last ones",
            unit="kB",
            ours=sample(kept[-edge:]),
            baseline=early,
            bar=GROWTH,
        ),
        Figure(
            group=RESOURCES,
            name="disk for the whole run, per iteration",
            unit="kB",
            ours=one(_size(run.state) / 1000 / run.iterations),
            baseline=Baseline(what="the iteration's own folder", sample=sample(kept)),
            note="with results, workspace, reports and events",
        ),
    ]


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
