"""What a person is told at the end of a run comes from the same history and ranking as what an agent is told."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from buildloop.events import read_events
from buildloop.memory.location import VARIABLE, memory_location
from buildloop.memory.store import open_store
from buildloop.memory.suggestions import mark_suggestion_resolved, record_suggestion
from buildloop.report.advice import Advice, load_advice
from buildloop.result import StopReason
from buildloop.rundir import RunDir
from tasks.advise import advised
from tasks.remember import memory_degraded
from tests.support.memories import NOW, Events, fix, remember, suggestion
from tests.support.runs import facts
from tests.support.states import iteration, report

FAILURE = report(failing=("t::a",)).reading.findings[0]


@pytest.fixture
def memory(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "memory.db"))
    with closing(open_store(memory_location({VARIABLE: str(tmp_path / "memory.db")}))) as store:
        yield store


@pytest.fixture
def run(tmp_path):
    made = RunDir(tmp_path / "runs" / "r1")
    made.path.mkdir(parents=True)
    return made


def ended(*gates):
    return facts([iteration(number, gate) for number, gate in enumerate(gates)], StopReason.MAX_ITERATIONS)


def test_a_failure_of_an_earlier_run_is_told_although_this_run_has_remembered_it(memory, run):
    remember(memory, FAILURE, run="before", repo="id")
    remember(memory, FAILURE, run=run.run_id, repo="id")
    (past,) = advised(run, ended(report())).advice.similar
    assert (past.seen, past.fix) == (2, "")


def test_what_only_this_run_has_met_is_not_told(memory, run):
    remember(memory, FAILURE, run=run.run_id, repo="id")
    assert advised(run, ended(report())).advice.similar == ()


def test_a_faded_fix_is_not_what_fixed_it(memory, run):
    remember(memory, FAILURE, repo="id")
    shown = fix(memory, FAILURE, repo="id")
    for number in range(8):
        record_suggestion(memory, suggestion(number, keys=(shown,)), NOW, Events().emit)
        mark_suggestion_resolved(memory, f"s{number}", "false", emit=Events().emit)
    advice = advised(run, ended(report())).advice
    assert [past.fix for past in advice.similar] == [""]
    assert not any("confirmed fix" in action for action in advice.actions)


def test_defaults_are_ranked_by_their_records(memory, run):
    first = advised(run, ended(report())).advice.actions[0]
    for number in range(5):
        shown = suggestion(number, keys=("ASSERTION_FAILURE/1",), repo="id")
        record_suggestion(memory, shown, NOW, Events().emit)
        mark_suggestion_resolved(memory, f"s{number}", "false", emit=Events().emit)
    assert first not in advised(run, ended(report())).advice.actions


def test_the_advice_of_an_earlier_stop_is_not_kept_for_an_end_without_a_failure(memory, run):
    before = advised(run, ended(report())).advice
    assert before.actions
    unclear = report(failing=())
    unclear = unclear.model_copy(update={"reading": replace(unclear.reading, findings=(), error_lines=())})
    later = replace(ended(unclear), advice=load_advice(run.path))
    assert later.advice == before
    assert advised(run, later).advice == load_advice(run.path) == Advice()


def test_memory_that_cannot_be_used_is_told_once_a_run_whatever_it_is_needed_for(run, tmp_path, monkeypatch):
    (tmp_path / "bad.db").write_text("no database " * 300)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "bad.db"))
    memory_degraded(run, "another reason")
    assert advised(run, ended(report())).advice.actions
    told = [event for event in read_events(run.events.path) if event["type"] == "loop.degraded"]
    assert [event["why"] for event in told] == ["another reason"]
