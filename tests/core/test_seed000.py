"""Seed 000, context exhaustion prevention: its validation criteria by name.

The criteria about the running loop (status, restart, injection, events) are in
`tests/orchestration/test_seed000_flow.py`.
"""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from buildloop.context.summary import SummaryFacts, summarize_loop_state
from buildloop.context.window import check_context_exhaustion, get_context_usage_pct, session_fill
from buildloop.decide import Restart, decide
from buildloop.models import ContextSummary, Usage
from tests.support.states import RED, iteration, state

FACTS = SummaryFacts(
    goal="add a login page",
    iteration=7,
    max_iterations=20,
    status="context_exhaustion",
    tests="2 failing",
    usage_pct=71,
    files=("src/login.py", "src/session.py"),
    errors=("E   AssertionError: 302 != 200",),
    fingerprints=("2:abc",),
    tried=("iteration 6: changed src/login.py; gate 2 failing",),
    log=("the redirect is missing",),
)


def test_check_context_exhaustion_is_exhausted_at_70_percent_of_the_window():
    assert check_context_exhaustion(100_000, 40_000, 200_000)
    assert check_context_exhaustion(140_001, 0, 200_000)


def test_check_context_exhaustion_is_safe_below_70_percent():
    assert not check_context_exhaustion(100_000, 39_999, 200_000)


def test_check_context_exhaustion_is_safe_with_a_window_of_0():
    """No division by zero, no false alarm."""
    assert not check_context_exhaustion(10**9, 10**9, 0)
    assert get_context_usage_pct(10**9, 10**9, 0) == 0
    assert get_context_usage_pct(5, 5, -1) == 0


def test_check_context_exhaustion_is_safe_with_token_counters_of_0():
    """A fresh loop is never full, however low the threshold."""
    assert not check_context_exhaustion(0, 0, 200_000, threshold=1)
    assert not check_context_exhaustion(0, 0, 200_000, threshold=0)


def test_get_context_usage_pct_is_a_whole_number_that_may_exceed_100():
    assert get_context_usage_pct(1, 0, 200_000) == 0
    assert get_context_usage_pct(139_999, 0, 200_000) == 69
    assert get_context_usage_pct(400_000, 56_000, 200_000) == 228


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(1, 10**7), st.integers(1, 100))
def test_exhausted_means_that_the_percentage_has_reached_the_threshold(spent, made, window, threshold):
    reached = get_context_usage_pct(spent, made, window) >= threshold
    assert check_context_exhaustion(spent, made, window, threshold) == (reached and spent + made > 0)


def test_summarize_loop_state_has_goal_iteration_files_errors_and_test_status():
    text = summarize_loop_state(FACTS)
    for section in (
        "## Goal",
        "## Status",
        "## Files Modified",
        "## Error Patterns",
        "## Recent Log Entries",
    ):
        assert section in text
    for fact in ("add a login page", "7/20", "2 failing", "- src/login.py", "302 != 200", "iteration 6"):
        assert fact in text


def test_summarize_loop_state_works_with_missing_data():
    """Best effort: what is not known makes a shorter summary, not a crash and not an empty heading."""
    text = summarize_loop_state(SummaryFacts("g", 0, 20, "context_exhaustion", "green"))
    assert "## Goal\ng" in text
    assert "Files Modified" not in text


def test_summarize_loop_state_does_not_exceed_2000_characters():
    many = tuple(f"src/some/long/path/of/a/module_{n}.py" for n in range(500))
    huge = SummaryFacts("g" * 9000, 7, 20, "x" * 900, "y" * 900, 71, many, many, many, many, many)
    assert len(summarize_loop_state(huge)) <= 2000


def test_no_long_part_pushes_another_out_of_the_summary():
    """Everything is long, and goal, files, errors and test status are still all there."""
    many = tuple(f"{kind}-{n} " + "x" * 300 for n in range(90) for kind in ("some",))
    text = summarize_loop_state(
        SummaryFacts("G" * 9000, 7, 20, "full", "2 failing", 71, many, many, (), many, many)
    )
    for section in ("## Goal", "## Status", "## Files Modified", "## Error Patterns", "## Tried So Far"):
        assert section in text
    assert "Tests: 2 failing" in text


@given(st.text(max_size=3000), st.lists(st.text(max_size=400), max_size=30))
def test_no_text_makes_the_summary_too_long(goal, lines):
    facts = SummaryFacts(goal, 1, 2, "s", "t", 1, lines, lines, lines, lines, lines)
    assert len(summarize_loop_state(facts)) <= 2000


def test_crossing_the_threshold_breaks_the_session_with_context_exhaustion():
    full = iteration(1, RED, usage=Usage(context_tokens=140_000))
    assert decide(state(iteration(0, RED), full)) == Restart("context_exhaustion")


def test_the_fill_is_the_agents_own_figure_and_the_sum_only_without_one():
    calls = (Usage(input_tokens=50_000, output_tokens=5_000), Usage(input_tokens=60_000, output_tokens=6_000))
    assert session_fill(calls) == (110_000, 11_000)
    assert session_fill((*calls, Usage(input_tokens=9, context_tokens=30_000))) == (30_000, 0)
    assert session_fill(()) == (0, 0)


def test_a_new_session_starts_with_an_empty_context():
    before = state(iteration(0, RED), iteration(1, RED, usage=Usage(context_tokens=150_000)))
    after = before.restarted(ContextSummary(session=1, iteration=1, reason="context_exhaustion", text="s"))
    assert before.context_pct == 75
    assert after.context_pct == 0


def test_a_hundred_checks_cost_nothing_to_speak_of():
    """The seed's target is 100 checks in 100 ms; measured in processor time, which a busy machine cannot spoil."""
    before = time.process_time()
    for number in range(100):
        check_context_exhaustion(number, number, 200_000)
    assert time.process_time() - before < 0.1
