"""What `make bench` says follows from what it measured."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from benchmarks.bench import history
from benchmarks.bench.command import main
from benchmarks.bench.figure import Baseline, Figure, Measured, Series, one, sample
from benchmarks.bench.history import Entry
from benchmarks.bench.machine import Machine
from benchmarks.bench.page import BEGIN, END, write_page
from benchmarks.bench.parts.plain import plain_loop
from benchmarks.bench.plot import bar_plot, line_plot
from benchmarks.bench.scripted import Call, make_task, overheads
from benchmarks.bench.table import spread, tables
from buildloop.errors import InputError

MACHINE = Machine(
    cpu="a", cores=2, memory_gb=8, system="Linux 6", python="3.11", prefect="3.8", git="2.39", load_before=0.1
)


def figure(ours: float, base: float = 10, **more: object) -> Figure:
    plain = Baseline(what="plain", sample=one(base))
    return Figure(group="Cost", name="own cost", unit="ms", ours=one(ours), baseline=plain, **more)


def entry(*figures: Figure, at: str = "2026-11-16T12:00:00Z", **more: object) -> Entry:
    series = Series(name="own cost", unit="ms", points=tuple((n, 50.0 + n % 3) for n in range(1, 500)))
    measured = Measured(figures=figures, series=(series,))
    fields = {"commit": "abc", "code": "1", "quick": False, "seconds": 1.0, "machine": MACHINE, **more}
    return Entry(at=at, measured=measured, **fields)


@pytest.mark.parametrize(
    ("ours", "bars", "met"),
    [
        (12, {"bar": 1.3}, True),
        (14, {"bar": 1.3}, False),
        (14, {}, None),
        (14, {"bar_value": 60}, True),
        (61, {"bar_value": 60}, False),
        (61, {"bar": 10, "bar_value": 60}, False),
    ],
)
def test_a_bar_is_met_or_not(ours, bars, met):
    assert figure(ours, **bars).met is met


def test_own_cost_is_what_is_between_two_calls_of_the_agent_and_in_none_of_them():
    calls = [
        Call("gate", 0.0, 1.0),
        Call("agent", 2.0, 4.0),
        Call("gate", 4.5, 5.0),
        Call("gate", 5.1, 5.4),
        Call("agent", 6.0, 7.0),
        Call("gate", 7.5, 8.0),
    ]
    assert overheads(calls) == [pytest.approx(4.0 - 2.0 - 0.5 - 0.3)]


def test_the_plain_loop_calls_agent_and_gate_until_it_is_green(tmp_path):
    task = make_task(tmp_path / "task", 3, changes=2)
    assert [call.who for call in plain_loop(task).calls] == ["agent", "gate"] * 3
    assert (task.repo / "changed" / "f2.txt").read_text() == "3\n"


def test_the_page_shows_the_last_run_and_keeps_what_is_around_it(tmp_path):
    page = tmp_path / "performance.md"
    page.write_text(f"# Before\n{BEGIN}\nold\n{END}\nafter\n")
    write_page(entry(figure(14, bar=1.3)), entry(figure(12), at="2026-11-16T11:00:00Z"), page)
    text = page.read_text()
    assert text.startswith("# Before\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    assert "0 of 1 bars met" in text
    assert "| own cost | 14 ms | 10 ms (plain) | 1.4 × | ≤ 1.3 × | **no** | 1.2 × | 17 % |" in text
    for drawing in (tmp_path / "performance").glob("*.svg"):
        ElementTree.parse(drawing)
        assert f"performance/{drawing.name}" in text


def test_a_page_without_its_markers_is_left_alone(tmp_path):
    page = tmp_path / "performance.md"
    page.write_text("mine\n")
    with pytest.raises(InputError, match="markers"):
        write_page(entry(figure(14)), None, page)
    assert page.read_text() == "mine\n"


def test_figures_survive_their_file(tmp_path, monkeypatch):
    monkeypatch.setattr(history, "FULL", tmp_path)
    first, second = entry(figure(10), at="2026-11-16T10:00:00Z"), entry(figure(11))
    assert history.load(history.save(first)) == first
    assert history.run_before(second) == first
    assert history.run_before(entry(figure(1), code="other")) is None
    history.save(second)
    assert history.load(history.find("last")) == second


def test_two_runs_are_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(history, "FULL", tmp_path)
    assert main(["--compare", "before", "last"]) == 2
    assert "make bench" in capsys.readouterr().err
    for ours, at in ((10, "2026-11-16T10:00:00Z"), (15, "2026-11-16T11:00:00Z")):
        history.save(entry(figure(ours), at=at))
    assert main(["--compare", "before", "last"]) == 0
    assert "| Cost: own cost | 10 ms | 15 ms | 1 × | 1.5 × | 50 % |" in capsys.readouterr().out


def test_a_spread_does_not_depend_on_the_order():
    assert spread(figure(10), figure(15)) == spread(figure(15), figure(10)) == "50 %"


def test_repeated_measures_show_the_median_and_from_where_to_where():
    many = figure(1).model_copy(update={"ours": sample([3, 1, 2])})
    assert "2 ms (1–3, n=3)" in tables(entry(many))


def test_plots_are_xml_whatever_the_names_are():
    odd = figure(14, bar=1.3).model_copy(update={"name": 'a < b & "c"'})
    bars = ElementTree.fromstring(bar_plot("t & t", [odd, figure(0.001)]))
    assert odd.name in " ".join(bars.itertext())
    lines = ElementTree.fromstring(line_plot("t", entry().measured.series[0], 60))
    assert "t" in list(lines.itertext())
