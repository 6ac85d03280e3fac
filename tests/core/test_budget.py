"""Budgets: the call that would exceed one is not made; what is unknown is not taken for nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from buildloop.budget import budget_refusal
from buildloop.ledger import Call, Ledger
from buildloop.models import AgentOutcome, Usage
from tests.support.states import request

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def call(cost=None, tokens=None, outcome=AgentOutcome.OK, seconds=60.0):
    usage = Usage(cost_usd=cost, input_tokens=tokens)
    return Call(session=1, iteration=1, agent="a", ended=NOON, outcome=outcome, seconds=seconds, usage=usage)


def refused(calls, worked=0.0, **budget):
    return budget_refusal(request(**budget), calls, worked)


def test_without_a_budget_every_call_may_be_made():
    assert refused([call(cost=1000.0)] * 50) is None


def test_the_first_call_may_be_made():
    assert refused([], budget_usd=1, budget_tokens=10, budget_minutes=1) is None


def test_the_call_that_would_exceed_the_budget_is_not_made():
    assert refused([call(0.3)] * 2, budget_usd=1) is None
    sentence = refused([call(0.3)] * 3, budget_usd=1)
    assert "budget of $1.00" in sentence
    assert "$0.90 spent in 3 calls" in sentence
    assert "$0.30 expected" in sentence


def test_the_forecast_is_the_dearest_of_the_last_calls():
    assert refused([call(0.1), call(0.5), call(0.1)], budget_usd=1) is not None
    assert refused([call(0.5), call(0.1), call(0.1), call(0.1)], budget_usd=1) is None


def test_failed_calls_that_cost_something_count():
    assert refused([call(0.6, outcome=AgentOutcome.TRANSIENT)], budget_usd=1) is not None
    assert refused([call(None, outcome=AgentOutcome.TRANSIENT), call(0.1)], budget_usd=1) is None


def test_an_unknown_cost_is_not_free():
    assert "does not report" in refused([call(None)], budget_usd=100)
    assert refused([call(0.4), call(None, outcome=AgentOutcome.TIMEOUT)], budget_usd=1) is not None
    assert refused([call(None)], budget_minutes=10) is None


def test_tokens_and_minutes_have_budgets_too():
    assert "tokens" in refused([call(tokens=400)] * 2, budget_tokens=1000)
    assert refused([call(tokens=300)] * 2, budget_tokens=1000) is None
    assert "minutes" in refused([call()], worked=9.5 * 60, budget_minutes=10)
    assert refused([call()], worked=8.5 * 60, budget_minutes=10) is None


def test_every_call_is_one_line_that_survives_a_torn_one(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    assert ledger.calls() == []
    ledger.add(call(0.5))
    with ledger.path.open("a") as stream:
        stream.write('{"session": 1, "iter')
    ledger.add(call(0.25, outcome=AgentOutcome.TRANSIENT))
    assert [one.usage.cost_usd for one in ledger.calls()] == [0.5, 0.25]
    assert ledger.spent().cost_usd == pytest.approx(0.75)
    assert ledger.has_answer(1, 1)
    assert not ledger.has_answer(1, 2)


def test_a_ledger_that_is_read_again_is_read_on_and_one_that_was_replaced_from_its_beginning(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    one, other = call(cost=0.5), call(cost=0.25)
    ledger.add(one)
    assert ledger.calls() == [one]
    with ledger.path.open("ab") as stream:
        stream.write(other.model_dump_json().encode()[:20])
    assert ledger.calls() == [one]
    ledger.add(other)
    assert (ledger.calls(), ledger.spent().cost_usd) == ([one, other], 0.75)
    ledger.path.write_text(f"{other.model_dump_json()}\n" * 3)
    assert (ledger.calls(), ledger.spent().cost_usd) == ([other] * 3, 0.75)
    ledger.path.unlink()
    assert (ledger.calls(), ledger.spent().cost_usd) == ([], None)
