"""The shapes a chart is made of. What they mean is decided in `timeline`, how they look in the template."""

from __future__ import annotations

from dataclasses import dataclass

NUMBER_WIDTH = 7.0


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Label:
    x: float
    y: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring iterations of one mode. `label` is as long as there is room for; the legend has the rest."""

    x: float
    width: float
    kind: str
    label: str
    title: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One strip of the picture. `base` is where its bars stand, `note` the word at its upper right."""

    title: str
    y: float
    base: float
    note: str = ""
    bars: tuple[Bar, ...] = ()
    labels: tuple[Label, ...] = ()
    line: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    name: str
    width: int
    height: float
    left: float
    right: float
    failing: Panel
    band_y: float
    band: tuple[Segment, ...]
    context: Panel | None
    threshold: float
    threshold_y: float
    cost: Panel | None
    sessions: tuple[Label, ...]
    ticks: tuple[Label, ...]
    axis_y: float
    summary: str


@dataclass(frozen=True, slots=True)
class Columns:
    left: float
    right: float
    step: float

    def middle(self, index: int) -> float:
        return self.left + (index + 0.5) * self.step

    def inside(self, index: int, text: str) -> float:
        """The middle of a column, but not so far out that a text around it would be cut off."""
        half = len(text) * NUMBER_WIDTH / 2
        return min(max(self.middle(index), self.left + half), self.right - half)

    @property
    def bar(self) -> float:
        return max(0.8, min(40.0, self.step * 0.72))
