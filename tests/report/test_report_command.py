"""`buildloop report` in every format, on stored runs."""

from __future__ import annotations

import json

import pytest

from buildloop.cli.report import FORMATS, show_report
from buildloop.errors import InputError
from buildloop.files import write_atomic
from buildloop.report.advice import Advice, save_advice
from buildloop.report.error_context import SimilarFailure
from buildloop.rundir import RunDir
from tests.support import runs


@pytest.fixture
def stored(tmp_path):
    """A run as it lies in its directory."""

    def store(facts) -> RunDir:
        run = RunDir(tmp_path / "runs" / str(facts.request.run_id))
        run.save("request.json", facts.request)
        run.save("workspace.json", facts.workspace)
        for one in facts.iterations:
            run.save_iteration(one)
        if facts.result is not None:
            run.save("result.json", facts.result)
        return run

    return store


@pytest.mark.parametrize("name", runs.ALL)
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_of_every_run_is_told(stored, tmp_path, capsys, form, name):
    stored(runs.ALL[name]())
    show_report(None, form, None, tmp_path)
    told = capsys.readouterr().out
    assert "1116-081502-3fa9" in told
    assert "\x1b" not in told
    if form == "json":
        assert json.loads(told)["run_id"] == "1116-081502-3fa9"


def test_a_report_can_be_written_to_a_file(stored, tmp_path, capsys):
    stored(runs.complete())
    wanted = tmp_path / "out" / "report.html"
    show_report("1116", "html", wanted, tmp_path)
    assert wanted.read_text().startswith("<!doctype html>")
    assert capsys.readouterr().out.strip() == str(wanted)


def test_a_file_that_cannot_be_written_is_one_sentence(stored, tmp_path):
    stored(runs.complete())
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="--output"):
        show_report(None, "html", tmp_path / "folder", tmp_path)


def test_an_unknown_format_names_those_there_are(tmp_path):
    with pytest.raises(InputError, match="terminal, markdown, github, html, json"):
        show_report(None, "pdf", None, tmp_path)


def test_what_memory_said_is_in_reports_that_are_made_later(stored, tmp_path, capsys):
    run = stored(runs.many_failures())
    similar = SimilarFailure("assert NUM == NUM", "round in one place", worked=4, tried=5)
    save_advice(run.path, Advice(similar=(similar,), actions=("Round in one place.",)))
    for form in ("html", "github"):
        show_report(None, form, None, tmp_path)
        told = capsys.readouterr().out
        assert "worked 4 of 5" in told
        assert "Round in one place." in told


def test_damaged_advice_is_no_advice(stored, tmp_path, capsys):
    run = stored(runs.many_failures())
    write_atomic(run.path / "advice.json", '{"similar": [')
    show_report(None, "github", None, tmp_path)
    assert "Suggested Actions" in capsys.readouterr().out
