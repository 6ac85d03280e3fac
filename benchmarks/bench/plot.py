"""Plots as SVG, written by hand: they open everywhere and need no library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from benchmarks.bench.figure import Figure, Series

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 34, 36
INK, LINE, LIMIT, PALE = "#444", "#2563eb", "#dc2626", "#d4d4d8"
# More points than this are not seen; each drawn one is the median of its neighbours.
MOST_POINTS = 240
MOST_OF_BAR = 2.5


def line_plot(title: str, series: Series, limit: float | None = None) -> str:
    """One line over the iterations; `limit` is the bar, drawn across."""
    points = _thinned(series.points)
    top = _round_up(max([y for _, y in points] + ([limit] if limit else [])))
    right = max(x for x, _ in points) or 1
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(x: float, y: float) -> str:
        return f"{LEFT + across * x / right:.1f},{TOP + up * (1 - min(y, top) / top):.1f}"

    parts = [_grid(top, series.unit)]
    parts.append(
        f'<polyline fill="none" stroke="{LINE}" stroke-width="1.5" points="{" ".join(at(*p) for p in points)}"/>'
    )
    if limit:
        height = TOP + up * (1 - limit / top)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}" stroke="{LIMIT}" '
            'stroke-dasharray="5 4"/>'
        )
    for x in sorted({1, right // 4, right // 2, 3 * right // 4, right}):
        place = LEFT + across * x / right
        parts.append(_text(place, HEIGHT - 18, f"{x:.0f}", "middle"))
    parts.append(_text(LEFT + across / 2, HEIGHT - 4, "iteration", "middle"))
    return _page(title, parts, HEIGHT)


def bar_plot(title: str, figures: Sequence[Figure]) -> str:
    """How much of its bar each figure takes. One that takes far more than all of it goes off the scale."""
    chosen = [(figure.name.replace("`", ""), figure.used) for figure in figures if figure.used is not None]
    row, left = 22, 350
    height, across = TOP + row * len(chosen) + 14, WIDTH - left - 60
    widest = min(MOST_OF_BAR, max([1.2, *(used for _, used in chosen)]))
    parts = []
    for place, (name, used) in enumerate(chosen):
        y, width = TOP + row * place, across * min(used, widest) / widest
        color = LIMIT if used > 1 else LINE
        parts.append(_text(left - 8, y + 14, name, "end"))
        parts.append(f'<rect x="{left}" y="{y + 3}" width="{width:.1f}" height="14" fill="{color}"/>')
        parts.append(_text(left + width + 5, y + 14, f"{100 * used:.0f} %", "start"))
    limit = left + across / widest
    parts.append(
        f'<line x1="{limit:.1f}" x2="{limit:.1f}" y1="{TOP - 4}" y2="{height - 8}" stroke="{LIMIT}" '
        'stroke-dasharray="5 4"/>'
    )
    return _page(title, parts, height)


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    step = math.ceil(len(points) / MOST_POINTS)
    groups = [points[place : place + step] for place in range(0, len(points), step)]
    return [sorted(group, key=lambda point: point[1])[len(group) // 2] for group in groups]


def _round_up(value: float) -> float:
    if value <= 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(step * size for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * size >= value)


def _grid(top: float, unit: str) -> str:
    lines = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{PALE}"/>')
        lines.append(_text(LEFT - 6, y + 4, f"{top * share:g} {unit}", "end"))
    return "\n".join(lines)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}">{escape(text)}</text>'


def _page(title: str, parts: Sequence[str], height: float) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'font-family="system-ui, sans-serif" font-size="11" role="img" aria-label="{escape(title)}">'
    )
    ground = f'<rect width="{WIDTH}" height="{height:.0f}" fill="white"/>'
    heading = f'<text x="{WIDTH / 2}" y="18" text-anchor="middle" font-size="13" fill="{INK}">{escape(title)}</text>'
    return "\n".join([head, ground, heading, *parts, "</svg>"]) + "\n"
