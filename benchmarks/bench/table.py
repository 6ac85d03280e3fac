"""Figures as Markdown tables, and two runs beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.bench.figure import Figure, Sample
from benchmarks.bench.history import Entry

HEADINGS = ("what", "ours", "baseline", "ratio", "bar", "met")
SIGNS = {True: "yes", False: "**no**", None: "–"}


def tables(entry: Entry, before: Entry | None = None) -> str:
    """One table a group. With an earlier run, its ratio and the spread between the two."""
    parts = []
    for group in dict.fromkeys(figure.group for figure in entry.measured.figures):
        figures = [figure for figure in entry.measured.figures if figure.group == group]
        headings = (*HEADINGS, "run before", "spread") if before else HEADINGS
        rows = [_row(figure) + (_beside(figure, before) if before else ()) for figure in figures]
        parts.append(f"### {group}\n\n{markdown(headings, rows)}")
    return "\n\n".join(parts)


def comparison(one: Entry, two: Entry) -> str:
    """Every figure of both runs, with the change from the first to the second."""
    rows = []
    for key, figure in one.figures.items():
        other = two.figures.get(key)
        if other is not None:
            rows.append(
                (key, shown(figure.ours, figure.unit), shown(other.ours, other.unit), *_change(figure, other))
            )
    only = sorted(set(one.figures) ^ set(two.figures))
    table = markdown(("what", one.at, two.at, "ratio then", "ratio now", "spread"), rows)
    return table + (f"\n\nOnly in one of them: {', '.join(only)}" if only else "")


def _change(first: Figure, second: Figure) -> tuple[str, str, str]:
    return _ratio(first), _ratio(second), spread(first, second)


def _row(figure: Figure) -> tuple[str, ...]:
    name = f"{figure.name}<br>*{figure.note}*" if figure.note else figure.name
    return (
        name,
        shown(figure.ours, figure.unit),
        f"{shown(figure.baseline.sample, figure.unit)} ({figure.baseline.what})",
        _ratio(figure),
        bar(figure),
        SIGNS[figure.met],
    )


def _beside(figure: Figure, before: Entry | None) -> tuple[str, str]:
    other = before.figures.get(figure.key) if before else None
    return (_ratio(other), spread(other, figure)) if other else ("–", "–")


def spread(one: Figure, two: Figure) -> str:
    """How far apart the ratios of two runs are, in percent of the smaller."""
    if not one.ratio or not two.ratio:
        return "–"
    low, high = sorted((one.ratio, two.ratio))
    return f"{100 * (high / low - 1):.0f} %"


def bar(figure: Figure) -> str:
    bars = []
    if figure.bar is not None:
        bars.append(f"≤ {number(figure.bar)} ×")
    if figure.bar_value is not None:
        bars.append(f"≤ {number(figure.bar_value)} {figure.unit}".strip())
    return ", ".join(bars) or "–"


def shown(sample: Sample, unit: str) -> str:
    """The median, and from where to where."""
    middle = f"{number(sample.middle)} {unit}".strip()
    if len(sample.values) == 1:
        return middle
    return f"{middle} ({number(sample.low)}–{number(sample.high)}, n={len(sample.values)})"


def _ratio(figure: Figure) -> str:
    return f"{number(figure.ratio)} ×" if figure.ratio is not None else "–"


def number(value: float) -> str:
    """Three digits that matter."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 1:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1e}"


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines)
