"""A report that was given nothing asks memory; and says honestly where there was nobody to ask."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace

import pytest

from buildloop.memory.location import VARIABLE, memory_location
from buildloop.memory.store import open_store
from buildloop.report.advice import Advice
from buildloop.report.error_context import format_context_error_report
from buildloop.report.github_comment import format_github_error_comment
from buildloop.report.github_report import failure_comment
from buildloop.report.html import html_report
from buildloop.workspace.repository import open_repository
from tests.support import runs
from tests.support.memories import finding, fix, remember

ERROR = "KeyError: 'user'"
FORMS = (format_context_error_report, format_github_error_comment)


def told(form, **more: object) -> str:
    return " ".join(form(ERROR, "gate", 7, "Totals include VAT", 12, **more).split())


@pytest.fixture
def here(repo, monkeypatch):
    monkeypatch.chdir(repo)
    return repo


@pytest.mark.parametrize("form", FORMS)
def test_the_confirmed_fix_is_found_and_suggested_first(here, form):
    with closing(open_store(memory_location(os.environ))) as store:
        known = finding(ERROR, test=None)
        remember(store, known, repo=open_repository(here).repo_id)
        fix(store, known, repo=open_repository(here).repo_id)
    text = told(form)
    assert "did y" in text
    assert "1. Repeat the confirmed fix" in text
    assert "None in this repository's memory" in told(form, similar=())


@pytest.mark.parametrize("form", FORMS)
def test_what_memory_does_not_know_it_was_at_least_asked(here, form):
    assert "None in this repository's memory." in told(form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("address", "said"),
    [("off", "switched off"), ("ftp://x", "not available"), ("/proc/nowhere/memory.db", "not available")],
)
def test_where_memory_cannot_be_asked_the_report_says_so(here, monkeypatch, form, address, said):
    monkeypatch.setenv(VARIABLE, address)
    text = told(form)
    assert f"Memory is {said}" in text
    assert "None in this" not in text
    assert "1. " in text


def test_outside_a_repository_there_is_no_memory_to_ask(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Memory is not available" in told(format_context_error_report)


@pytest.mark.parametrize(
    ("advice", "degraded", "said"),
    [
        (Advice(), (), "Memory was not asked."),
        (Advice(actions=("a", "b")), (), "None in this repository"),
        (Advice(actions=("a", "b")), ("memory: it is locked",), "Memory is not available: it is locked"),
        (Advice(actions=("a", "b"), memory_off=True), (), "Memory is switched off"),
    ],
)
def test_the_reports_of_a_run_say_it_too(advice, degraded, said):
    facts = replace(runs.many_failures(), advice=advice, degraded=degraded)
    for text in (failure_comment(facts), html_report(facts).replace("&#39;", "'")):
        assert said in text
