"""What is promised to one run cannot be spent by another, however many there are."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from buildloop.fleet.purse import Purse
from buildloop.fleet.result import Entry, FleetResult, summary


def test_without_a_total_a_run_keeps_its_own_budget():
    purse = Purse(None, 4)
    assert purse.take(2.5) == 2.5
    assert purse.take(None) is None


def test_a_share_is_what_is_left_for_one_of_those_at_work():
    purse = Purse(10.0, 4)
    assert purse.take(None) == 2.5
    assert purse.take(20.0) == 7.5


def test_nothing_left_and_nothing_out_means_no_more_runs():
    purse = Purse(1.0, 1)
    share = purse.take(None)
    purse.pay(share, 1.0)
    assert purse.take(None) == 0.0


def test_a_run_that_reports_no_cost_has_cost_its_share():
    purse = Purse(1.0, 1)
    purse.pay(purse.take(None), None)
    assert purse.spent == 1.0


def test_a_run_waits_for_money_that_may_come_back():
    purse = Purse(1.0, 1)
    first = purse.take(None)
    got: list[float | None] = []
    waiting = threading.Thread(target=lambda: got.append(purse.take(None)))
    waiting.start()
    purse.pay(first, 0.25)
    waiting.join(60)
    assert got == [0.75]


@given(st.lists(st.floats(0, 1.5), max_size=30), st.integers(1, 8))
def test_shares_never_add_up_to_more_than_the_total(costs, shares):
    """Each run costs at most its share, so the total holds."""
    purse, out = Purse(3.0, shares), []
    for cost in costs:
        if len(out) == shares:
            share, spent = out.pop(0)
            purse.pay(share, min(spent, share))
        share = purse.take(None) if purse.total - purse.spent - sum(s for s, _ in out) > 0.02 else 0.0
        if share:
            out.append((share, cost))
        assert purse.spent + sum(s for s, _ in out) <= 3.0 + 1e-9


def test_the_summary_shows_what_needs_somebody_first():
    entries = (
        Entry(run_id="f-1", goal="a | b", repo="/r", agent="x", outcome="complete", branch="buildloop/f-1"),
        Entry(
            run_id="f-2", goal="c", repo="/r", agent="x", outcome="stuck", explanation="no way", cost_usd=1.5
        ),
    )
    text = summary(FleetResult(fleet_id="f", entries=entries, seconds=3))
    assert text.startswith("# Fleet f: 1 of 2 goals complete")
    assert text.index("f-2") < text.index("f-1")
    assert "a \\| b" in text
    assert "$1.50" in text
