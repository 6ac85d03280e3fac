"""The page as text: one file that needs nothing else, and what must be on it."""

from __future__ import annotations

import re
from html import unescape

import pytest

from buildloop.events import read_events
from buildloop.report.html import GROUP, groups_of, html_report
from buildloop.report.story import story_of
from buildloop.report.timeline import chart_of
from buildloop.report.write import write_page
from buildloop.rundir import RunDir
from tests.support import runs


@pytest.mark.parametrize("name", runs.ALL)
def test_the_page_is_one_file_that_asks_for_nothing(name):
    page = html_report(runs.ALL[name]())
    assert page.startswith("<!doctype html>")
    assert not re.findall(r"<(?:script|link|img|iframe|object|embed|form)\b", page)
    assert not re.findall(r"(?:src|href|action)=", page)
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_the_page_says_what_is_proven():
    page = unescape(html_report(runs.complete()))
    found = runs.complete()
    for fact in (runs.COMMAND, found.result.tree, found.result.commit, "0, passed", "240 of 240 passed"):
        assert fact in page


def test_the_page_tells_diagnoses_with_evidence_what_came_of_them_and_what_is_flaky():
    page = unescape(html_report(runs.complete()))
    for fact in (
        "No module named 'babel'",
        "87 % sure, else code error",
        "tests/test_mail.py::test_queue_drains",
        "the test file tests/test_vat.py was deleted",
        "it got better",
    ):
        assert fact in page


def test_cost_is_told_for_each_session_and_unknown_is_not_nothing():
    page = html_report(runs.complete())
    assert page.count("<td>Session ") == 2
    assert "$2.71" in page
    assert "not reported" in html_report(runs.no_cost())
    assert "$0" not in html_report(runs.no_cost())


def test_a_mode_is_a_colour_and_a_word():
    story = story_of(runs.complete())
    for width in (340, 900):
        chart = chart_of(story, "x", width)
        assert all(segment.label for segment in chart.band)
        assert len({segment.kind for segment in chart.band}) == 6


def test_neighbours_of_one_mode_are_one_piece_and_all_columns_lie_inside():
    chart = chart_of(story_of(runs.long_run()), "x", 340)
    assert len(chart.failing.bars) == 201
    assert len(chart.band) < 40
    edges = [(bar.x, bar.x + bar.width) for bar in chart.failing.bars]
    assert min(edges)[0] >= chart.left
    assert max(edges)[1] <= chart.right
    for panel in (chart.failing, chart.context, chart.cost):
        assert all(panel.y - 1 <= bar.y <= panel.base for bar in panel.bars)


def test_without_cost_or_fill_there_is_no_empty_picture():
    chart = chart_of(story_of(runs.no_cost()), "x", 900)
    assert chart.cost is None
    assert chart.context is None


@pytest.mark.parametrize("count", [1, 2, GROUP, GROUP + 1, GROUP + 2, 2 * GROUP, 201])
def test_every_iteration_is_in_exactly_one_group_and_the_last_is_open(count):
    steps = runs.long_run().iterations[:count]
    groups = groups_of(steps)
    assert [one.number for group in groups for one in group.steps] == list(range(count))
    assert not groups[-1].folded
    assert all(group.folded for group in groups[:-1])


def test_a_running_run_says_so_and_a_cancelled_one_can_go_on():
    assert "written anew after each iteration" in html_report(runs.nothing_yet())
    page = html_report(runs.cancelled())
    assert "cancelled" in page
    assert "buildloop resume 1116-081502-3fa9" in page


def test_the_templates_are_part_of_the_wheel(tmp_path):
    import zipfile
    from pathlib import Path

    from hatchling.builders.wheel import WheelBuilder

    root = Path(__file__).parents[2]
    (wheel,) = WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"])
    packed = set(zipfile.ZipFile(wheel).namelist())
    templates = root / "buildloop" / "report" / "templates"
    assert {f"buildloop/report/templates/{path.name}" for path in templates.iterdir()} <= packed


def test_a_page_that_cannot_be_drawn_does_not_stop_the_run(tmp_path, monkeypatch):
    run = RunDir(tmp_path / "r1")

    def broken(_: object) -> str:
        raise ZeroDivisionError("no columns")

    monkeypatch.setattr("buildloop.report.write.html_report", broken)
    write_page(run, runs.complete())
    (event,) = read_events(run.events.path)
    assert (event["type"], event["what"]) == ("loop.degraded", "report.html")
