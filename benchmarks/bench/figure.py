"""One measured figure: ours beside a baseline of the same run, the bar, and whether it is met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

from buildloop.frozen import Frozen


class Sample(Frozen):
    """Several measurements of one thing."""

    values: tuple[float, ...]

    @property
    def middle(self) -> float:
        return median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)


class Baseline(Frozen):
    """What ours is compared with: measured in the same run, on the same machine, in the same unit."""

    what: str
    sample: Sample


class Figure(Frozen):
    """`bar` is the most `ratio` may be, `bar_value` the most our own value may be; without either it only informs."""

    group: str
    name: str
    unit: str
    ours: Sample
    baseline: Baseline
    bar: float | None = None
    bar_value: float | None = None
    note: str = ""

    @property
    def key(self) -> str:
        return f"{self.group}: {self.name}"

    @property
    def ratio(self) -> float | None:
        return self.ours.middle / self.baseline.sample.middle if self.baseline.sample.middle else None

    @property
    def met(self) -> bool | None:
        """None where there is no bar."""
        checks = []
        if self.bar is not None and self.ratio is not None:
            checks.append(self.ratio <= self.bar)
        if self.bar_value is not None:
            checks.append(self.ours.middle <= self.bar_value)
        return all(checks) if checks else None

    @property
    def used(self) -> float | None:
        """The share of its bar that it takes; above 1 it is missed."""
        shares = []
        if self.bar and self.ratio is not None:
            shares.append(self.ratio / self.bar)
        if self.bar_value:
            shares.append(self.ours.middle / self.bar_value)
        return max(shares, default=None)


class Series(Frozen):
    """A line to plot: what happened over the iterations of one run."""

    name: str
    unit: str
    points: tuple[tuple[float, float], ...]


class Measured(Frozen):
    figures: tuple[Figure, ...] = ()
    series: tuple[Series, ...] = ()

    def __add__(self, other: Measured) -> Measured:
        return Measured(figures=self.figures + other.figures, series=self.series + other.series)


def sample(values: Sequence[float]) -> Sample:
    return Sample(values=tuple(round(value, 9) for value in values))


def one(value: float) -> Sample:
    return sample([value])


def timed(work: Callable[[], object], times: int) -> Sample:
    """Seconds on the clock."""
    took = []
    for _ in range(times):
        started = perf_counter()
        work()
        took.append(perf_counter() - started)
    return sample(took)
