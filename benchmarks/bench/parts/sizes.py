"""What an iteration costs in repositories of different size, and with many changed files; and the workspace itself."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

from benchmarks.bench.figure import Baseline, Figure, Measured, Sample, sample, timed
from benchmarks.bench.loop import run_loop
from benchmarks.bench.place import Place
from benchmarks.bench.scripted import Task, make_task
from benchmarks.prepare import BAR, prepare, worktree_add

GROUP = "Size of the repository"
CHANGED = 50
GIT_ALONE = ("add --all", "write-tree")


def measure(place: Place) -> Measured:
    folder, iterations = place.sub("sizes"), place.choose(10, 5)
    small = _own_cost(place, make_task(folder / "f10", iterations, files=10))
    base = Baseline(what="10 files", sample=small)
    figures = []
    for files in (1_000, 100_000) if not place.quick else (1_000,):
        task = make_task(folder / f"f{files}", iterations, files=files)
        figures.append(_figure(f"own cost with {files:,} files", _own_cost(place, task), base))
        if files == 100_000:
            figures += [_beside_git(figures[-1], task), _preparing(task, folder)]
    many = make_task(folder / "changes", iterations, changes=CHANGED)
    figures.append(_figure(f"own cost with {CHANGED} files changed", _own_cost(place, many), base))
    return Measured(figures=tuple(figures))


def _figure(name: str, ours: Sample, base: Baseline) -> Figure:
    return Figure(group=GROUP, name=name, unit="ms", ours=ours, baseline=base)


def _own_cost(place: Place, task: Task) -> Sample:
    run = run_loop(task, task.folder / "home", place.api, 90)
    if len(run.overheads) < 2:
        raise RuntimeError("the loop was not done with its first iterations in time")
    return sample([1000 * seconds for seconds in run.overheads])


def _beside_git(ours: Figure, task: Task) -> Figure:
    """The least that a checkpoint needs: git looks at every file once and writes the tree."""

    def commit() -> None:
        for words in GIT_ALONE:
            subprocess.run(["git", *words.split()], cwd=task.repo, check=True, capture_output=True)

    alone = sample([1000 * value for value in timed(commit, 5).values])
    what = Baseline(what="`git add --all`, `git write-tree`", sample=alone)
    return ours.model_copy(update={"name": f"{ours.name}, to git alone", "baseline": what})


def _preparing(task: Task, folder: Path) -> Figure:
    ours: list[float] = []
    plain: list[float] = []
    for number in range(2):
        plain += timed(partial(worktree_add, task.repo, folder / f"plain-{number}"), 1).values
        ours += timed(partial(prepare, task.repo, folder / "state", f"r{number}"), 1).values
    return Figure(
        group=GROUP,
        name="workspace of 100,000 files",
        unit="s",
        ours=sample(ours),
        baseline=Baseline(what="`git worktree add`", sample=sample(plain)),
        bar=BAR,
    )
