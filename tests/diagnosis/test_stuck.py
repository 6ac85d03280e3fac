"""A loop is the same failure again and again, or a circle; progress never is."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.stuck import detect_infinite_loop
from tests.diagnosis.builders import green, red


def loop(*history):
    return detect_infinite_loop(history)


def test_the_same_failure_three_times_although_the_code_changed():
    assert loop(*(red("a", tree=str(n), changed=True) for n in range(3)))


def test_twice_is_not_yet_a_loop():
    assert loop(red("a", tree="1"), red("a", tree="2")) is None


def test_no_diff_at_all():
    evidence = loop(red("a", tree="1"), *(red("a", tree="1", changed=False) for _ in range(2)))
    assert evidence
    assert "without any change" in evidence.lines[0]


def test_no_diff_at_all_where_the_log_says_nothing():
    assert loop(red(tree="1"), *(red(tree="1", changed=False) for _ in range(2)))


def test_a_cycle_of_edits_where_no_tree_is_known():
    assert loop(*(red("t", message=f"got {n}", diff=diff) for n, diff in enumerate(["+a", "-a", "+a", "-a"])))


def test_noise_in_the_message_does_not_hide_the_loop():
    assert loop(*(red("a", message=f"session {n}f3a9c1{n} (pid {n}77) died", tree=str(n)) for n in range(3)))


@pytest.mark.parametrize("cycle", ["ab", "abc", "abcd"])
def test_a_cycle_of_failures_walked_twice(cycle):
    assert loop(*(red(name, tree=str(n)) for n, name in enumerate(cycle * 2)))


def test_a_cycle_walked_once_is_not_enough():
    assert loop(red("a"), red("b"), red("a")) is None


def test_a_cycle_of_trees():
    assert loop(*(red("t", message=f"got {n}", tree=tree) for n, tree in enumerate("ABAB")))


@pytest.mark.parametrize(
    "sets",
    [
        [("a", "b", "c"), ("a", "b"), ("a",)],
        [("a",), ("b",), ("c",), ("d",), ("e",)],
        [("a",), ("a", "b"), ("b",), ("c",)],
        [("a", "b"), ("a",), ("a",)],
        [("a", "x"), ("a", "y"), ("a", "z"), ("a", "w")],
    ],
    ids=["shrinking", "moving", "regression on the way", "stuck only twice", "one stays, others move"],
)
def test_progress_is_never_a_loop(sets):
    for end in range(1, len(sets) + 1):
        assert loop(*(red(*tests, tree=str(n), changed=True) for n, tests in enumerate(sets[:end]))) is None


def test_a_green_gate_starts_afresh():
    assert loop(red("a"), red("a"), green(), red("a")) is None


def test_another_message_of_the_same_test_is_learning_until_it_lasts_too_long():
    attempts = [red("a", message=f"assert {n} == 40", tree=str(n)) for n in range(5)]
    assert loop(*attempts[:4]) is None
    assert loop(*attempts)


@pytest.mark.parametrize("status", ["stuck", "diverging"])
def test_a_status_that_says_so(status):
    assert loop(red("a", agent_status=status))


def test_unknown_failures_are_not_equal_failures():
    assert loop(*(red() for _ in range(4))) is None
