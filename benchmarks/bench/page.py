"""Puts the last full run into docs/performance.md, between its markers, with the plots beside it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.bench.history import Entry
from benchmarks.bench.place import ROOT
from benchmarks.bench.plot import bar_plot, line_plot
from benchmarks.bench.table import tables
from buildloop.errors import InputError
from buildloop.files import write_atomic

PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
OWN_COST_BAR = 60.0


def write_page(entry: Entry, before: Entry | None, page: Path = PAGE) -> None:
    """What stands outside the markers is left alone."""
    text = page.read_text(encoding="utf-8")
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise InputError(f"{page} has lost its markers; it needs the lines {BEGIN} and {END}")
    plots = _plots(entry)
    for name, drawing in plots.items():
        write_atomic(page.parent / "performance" / f"{name}.svg", drawing)
    shown = "\n\n".join(f"![{name.replace('-', ' ')}](performance/{name}.svg)" for name in plots)
    body = "\n\n".join([_heading(entry, before), shown, tables(entry, before)])
    write_atomic(page, f"{head}{BEGIN}\n{body}\n{END}{tail}")


def _heading(entry: Entry, before: Entry | None) -> str:
    bars = [figure for figure in entry.measured.figures if figure.met is not None]
    met = sum(figure.met is True for figure in bars)
    lines = [
        f"Measured {entry.at} at commit `{entry.commit}` in {entry.seconds:.0f} s: {met} of {len(bars)} bars met.",
        f"Machine: {entry.machine.in_words}.",
    ]
    if entry.machine.busy:
        lines.append(
            f"The machine was busy (load {entry.machine.load_before} before the start): times are too long, "
            "ratios may be off."
        )
    if before is not None:
        lines.append(f"The run before, of the same code on the same machine: {before.at}.")
    lines += [f"Not measured: {name} ({why})." for name, why in entry.failed.items()]
    return "\n".join(lines)


def _plots(entry: Entry) -> dict[str, str]:
    series = {one.name: one for one in entry.measured.series if len(one.points) > 1}
    plots = {}
    if "own cost" in series:
        title = "What an iteration costs besides agent and gate (dashed: the bar)"
        plots["own-cost"] = line_plot(title, series["own cost"], OWN_COST_BAR)
    if "memory" in series:
        plots["memory"] = line_plot("Memory of the command over a long run", series["memory"])
    if any(figure.used is not None for figure in entry.measured.figures):
        title = "How much of its bar each figure takes (dashed: all of it)"
        plots["bars"] = bar_plot(title, entry.measured.figures)
    return plots
