"""Pitfalls of earlier loops that a report could repeat, each as a test that fails on the old behaviour."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from buildloop.diagnosis.observe import observe_text
from buildloop.events import EventLog, read_events
from buildloop.report.github_comment import format_github_error_comment
from buildloop.report.github_report import failure_comment
from tests.support import runs

LOG = """tests/test_error_paths.py::test_ok PASSED
tests/test_cart.py::test_total FAILED
=================================== FAILURES ===================================
__________________________________ test_total __________________________________
E   AssertionError: assert 119 == 100
tests/test_cart.py:48: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - AssertionError: assert 119 == 100
========================= 1 failed, 1 passed in 0.12s ==========================
"""


def test_pitfall_37_a_passed_line_is_not_shown_as_the_error():
    """The first line with the word error in it is a test that passed; what is told is the parsed failure."""
    found = runs.many_failures()
    last = found.iterations[-1]
    gate = last.gate.model_copy(update={"reading": observe_text(LOG), "tail": LOG})
    told = failure_comment(replace(found, iterations=(last.model_copy(update={"reports": (gate,)}),)))
    shown = told.split("### Why")[0]
    assert "assert 119 == 100" in shown
    assert "PASSED" not in shown


@pytest.mark.parametrize("odd", ["\r", "\x1b[31mred", '"quoted"', "\u2028", "0123456", "\x00"])
def test_pitfall_49_what_a_report_says_in_an_event_stays_one_json_line(tmp_path, odd):
    log = EventLog(tmp_path / "events.jsonl", "r1")
    log.emit("error.context_generated", stage=odd, iteration=1, category=odd, sha="0123456")
    log.emit("github.commented", issue=12, url=odd)
    lines = (tmp_path / "events.jsonl").read_bytes().split(b"\n")
    assert [json.loads(line)["type"] for line in lines if line] == [
        "error.context_generated",
        "github.commented",
    ]
    assert next(event["type"] for event in read_events(log.path)) == "error.context_generated"
    assert json.loads(lines[0])["sha"] == "0123456"


def test_pitfall_50_no_secret_of_the_log_reaches_the_issue(monkeypatch):
    """The old loop posted the last 50 lines of the log as they were."""
    monkeypatch.setenv("STRIPE_SECRET_KEY", "correct-horse-battery")
    secrets = ("correct-horse-battery", "ghp_" + "a" * 36, "sk-ant-" + "b" * 40, "AKIA" + "C" * 16)
    log = "\n".join(f"line {number}: {secrets[number % 4]}" for number in range(50))
    told = format_github_error_comment(log, "gate", 1, f"use {secrets[1]}", 12, log=log, actions=(log,))
    assert not [secret for secret in secrets if secret in told]
    assert told.count("[masked]") >= 50
