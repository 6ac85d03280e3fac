"""The check of the agent's context, made after every iteration, and the summary for a new session."""

from __future__ import annotations

from collections.abc import Callable
from timeit import Timer

from benchmarks.bench.figure import Baseline, Figure, Measured, Sample, sample
from benchmarks.bench.place import Place
from buildloop.context.summary import SummaryFacts, summarize_loop_state
from buildloop.context.window import check_context_exhaustion

GROUP = "Context"
ROUNDS = 7
WINDOW = 200_000


def measure(_: Place) -> Measured:
    call = _milliseconds(lambda: None, 10_000)
    empty = Baseline(what="a call of nothing", sample=call)
    small, large = _facts(5), _facts(60)
    figures = (
        _figure(
            "one check",
            _milliseconds(lambda: check_context_exhaustion(130_000, 9_000, WINDOW), 10_000),
            empty,
            1,
        ),
        _figure("100 checks", _milliseconds(_hundred_checks, 100), empty, 100),
        _figure("summary", _milliseconds(lambda: summarize_loop_state(small), 200), empty, 100),
        _figure(
            "summary with 60 files", _milliseconds(lambda: summarize_loop_state(large), 200), empty, 1000
        ),
    )
    return Measured(figures=figures)


def _figure(name: str, ours: Sample, base: Baseline, most: float) -> Figure:
    return Figure(group=GROUP, name=name, unit="ms", ours=ours, baseline=base, bar_value=most)


def _hundred_checks() -> None:
    for used in range(100):
        check_context_exhaustion(used * 1_500, 900, WINDOW)


def _milliseconds(work: Callable[[], object], times: int) -> Sample:
    timer = Timer(work)
    return sample([1000 * timer.timeit(times) / times for _ in range(ROUNDS)])


def _facts(files: int) -> SummaryFacts:
    return SummaryFacts(
        goal="Make the checkout total include VAT for every EU country",
        iteration=files,
        max_iterations=100,
        status="the context is full",
        tests="3 failing",
        usage_pct=74,
        files=[f"shop/part_{number}/module_{number}.py" for number in range(files)],
        errors=[f"E   AssertionError: assert {number} == {number + 1}" for number in range(20)],
        fingerprints=[f"{number:016x}" for number in range(20)],
        tried=[f"iteration {number}: changed shop/cart.py; gate red, 3 failing" for number in range(files)],
        log=["The rate table lacked Croatia; I added it and moved rounding into one place."] * files,
    )
