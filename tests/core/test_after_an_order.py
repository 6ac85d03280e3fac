"""Once an agent was told what must not be repeated, less is needed to see that it does not help."""

from __future__ import annotations

from buildloop.attempts import attempts_of, attempts_since_redirect
from buildloop.diagnosis.model import FailureMode
from buildloop.diagnosis.stuck import detect_infinite_loop
from buildloop.models import Verdict
from buildloop.recovery.forbidden import returns_to_red_tree
from buildloop.recovery.strategies import STRATEGIES, strategy_for
from tests.support.states import RED, iteration, report, state

STUCK = FailureMode.INFINITE_LOOP


def tried(number: int, tree: str, **more: object):
    return iteration(number, report(tree=tree), **more)


def told(number: int, tree: str):
    return tried(number, tree, mode=STUCK, back_to="0" * 40)


def test_three_times_the_same_failure_is_a_loop_and_after_an_order_two_are_enough():
    before = state(iteration(0, RED), tried(1, "a"), tried(2, "b"))
    assert detect_infinite_loop([*attempts_since_redirect(before)]) is None
    ordered = state(iteration(0, RED), tried(1, "a"), tried(2, "b"), told(3, "c"), tried(4, "d"))
    assert detect_infinite_loop(attempts_since_redirect(ordered)) is None, "one try is a fair chance"
    again = [*attempts_since_redirect(ordered), *attempts_of(tried(5, "e"))]
    assert detect_infinite_loop(again) is not None


def test_the_very_code_that_was_forbidden_needs_no_second_look():
    ordered = state(iteration(0, RED), tried(1, "a"), tried(2, "b"), told(3, "c"))
    assert returns_to_red_tree(ordered, tried(4, "b"))
    assert not returns_to_red_tree(ordered, tried(4, "new"))
    assert strategy_for(FailureMode.CODE_ERROR, returned=True) == STRATEGIES[STUCK]


def test_without_an_order_nothing_is_forbidden():
    free = state(iteration(0, RED), tried(1, "a"), tried(2, "b"))
    assert not returns_to_red_tree(free, tried(3, "a"))


def test_a_flaky_test_or_a_full_context_is_no_disobedience():
    for mode in (FailureMode.TEST_FLAKINESS, FailureMode.CONTEXT_EXHAUSTION):
        assert strategy_for(mode, returned=True) == STRATEGIES[mode]


def test_a_tree_that_was_green_is_not_forbidden():
    green = iteration(2, report(Verdict.PASSED, tree="b"))
    ordered = state(iteration(0, RED), tried(1, "a"), green, told(3, "c"))
    assert not returns_to_red_tree(ordered, tried(4, "b"))
