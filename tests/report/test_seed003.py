"""The validation criteria of the design of context-aware error reports, those about reports, by name."""

from __future__ import annotations

import re

import pytest

from buildloop.diagnosis.model import Diagnosis, FailureMode
from buildloop.events import EVENT_FIELDS
from buildloop.report.error_context import SimilarFailure, format_context_error_report
from buildloop.report.github_comment import format_github_error_comment
from tests.report.markdown_tree import details_of, read_markdown

ERROR = "E   AssertionError: assert 119 == 100\ntests/test_cart.py:48: in test_total"
SIMILAR = (SimilarFailure("AssertionError: assert NUM == NUM", "round in one place", worked=4, tried=5),)
ACTIONS = ("Round in one place (worked 4 of 5).", "Compare expected and actual value.")
SECTIONS = ("What Failed", "Why", "Similar Past Issues", "Suggested Actions")


def report(**more: object) -> str:
    return format_context_error_report(
        ERROR, "gate", 7, "Totals include VAT", 189, similar=SIMILAR, actions=ACTIONS, **more
    )


def comment(**more: object) -> str:
    return format_github_error_comment(
        ERROR, "gate", 7, "Totals include VAT", 189, similar=SIMILAR, actions=ACTIONS, **more
    )


def test_format_context_error_report_produces_all_four_sections():
    text = report(plain=True)
    places = [text.index(f"\n{title}\n") for title in SECTIONS]
    assert places == sorted(places)
    assert "assert 119 == 100" in text
    assert "ASSERTION_FAILURE" in text
    assert "round in one place (worked 4 of 5)" in " ".join(text.split())
    assert "2. Compare expected and actual value." in text


def test_format_context_error_report_includes_stage_iteration_issue_and_goal():
    text = report(plain=True)
    for name, value in (
        ("stage", "gate"),
        ("iteration", "7"),
        ("issue", "#189"),
        ("goal", "Totals include VAT"),
    ):
        assert re.search(rf"^{name} +{value}$", text, re.M)


def test_format_github_error_comment_produces_valid_markdown_with_details_blocks():
    text = comment()
    tree = read_markdown(text)
    assert [line for level, line in tree.headings if level == 3] == list(SECTIONS)
    assert details_of(text) == ["Log", "Goal"]
    assert "#189" in text
    assert "iteration 7" in text


def test_no_color_gives_plain_text_without_box_drawing(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = report()
    assert "\x1b" not in text
    assert not re.search(r"[\u2500-\u259f]", text)
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b[" in report()


@pytest.mark.parametrize("error", ["", "\n\n", "\x00\x1b[31m", "no known words"])
@pytest.mark.parametrize("form", [format_context_error_report, format_github_error_comment])
def test_every_section_is_there_whatever_is_missing(form, error):
    text = form(error, "", 0, "", None)
    assert all(title in text for title in SECTIONS)
    assert len(re.findall(r"^ *\d\. ", text, re.M)) >= 2


def test_a_diagnosis_is_told_with_its_evidence():
    found = Diagnosis(FailureMode.DEPENDENCY_ISSUE, 0.92, ("No module named 'babel'",))
    for text in (report(diagnosis=found, plain=True), comment(diagnosis=found)):
        assert "dependency" in text
        assert "92%" in text
        assert "No module named 'babel'" in text


def test_events_of_reports_are_registered():
    assert {"stage", "iteration", "category"} <= EVENT_FIELDS["error.context_generated"]
