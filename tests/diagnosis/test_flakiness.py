"""Flaky is the same code with another outcome. Words about time prove nothing."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.flakiness import detect_test_flakiness
from tests.diagnosis.builders import CODE_DIFF, COMMENT_DIFF, DOCS_DIFF, green, log, red


def flaky(*history):
    return detect_test_flakiness(history)


def test_the_same_tree_passed_before():
    assert flaky(green(tree="A"), red("a", tree="A"))


def test_the_same_tree_failed_in_other_tests():
    assert flaky(red("a", tree="A"), red("b", tree="A"))


def test_the_same_tree_failed_in_another_way():
    assert flaky(red("a", tree="A", message="got 503"), red("a", tree="A", message="got 200"))


def test_the_same_tree_with_the_same_failure_is_not_flaky():
    assert flaky(red("a", tree="A"), red("a", tree="A")) is None


@pytest.mark.parametrize("diff", [DOCS_DIFF, COMMENT_DIFF])
def test_a_change_of_prose_or_comments_is_the_same_code(diff):
    assert flaky(green(tree="A"), red("a", tree="B", diff=diff, changed=True))


def test_a_change_of_code_explains_the_failure():
    assert flaky(green(tree="A"), red("a", tree="B", diff=CODE_DIFF, changed=True)) is None


def test_alternation_with_edits_is_not_flaky():
    history = [
        green(tree="A"),
        red("a", tree="B", diff=CODE_DIFF),
        green(tree="C", diff=CODE_DIFF),
        red("a", tree="D", diff=CODE_DIFF),
    ]
    assert flaky(*history) is None


def test_a_tree_that_comes_back_is_the_same_code():
    assert flaky(green(tree="A"), red("a", tree="B", diff=CODE_DIFF), red("b", tree="A", diff=CODE_DIFF))


def test_a_test_known_to_be_unsteady_stays_suspect_after_an_edit():
    history = [green(tree="A"), red("a", tree="A"), red("a", tree="B", diff=CODE_DIFF)]
    assert flaky(*history)
    assert flaky(*history[:-1], red("other", tree="B", diff=CODE_DIFF)) is None


@pytest.mark.parametrize(
    "text",
    [
        "a.py::test_x RERUN\na.py::test_x PASSED [ 50%]\na.py::test_y FAILED [100%]\n= 1 failed, 1 passed, "
        "1 rerun in 0.5s =",
        "  ✘  1 e2e/p.spec.js:2:29 › ready (109ms)\n  ✓  2 e2e/p.spec.js:2:29 › ready (retry #1) (69ms)\n  "
        "1 flaky",
        "    TRY 1 FAIL [   0.005s] app tests::x\n    TRY 2 PASS [   0.004s] app tests::x\n  FLAKY 2/3 [   "
        "0.004s] app tests::x",
        "[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Flakes: 1",
        "//app:foo_test      FLAKY, failed in 1 out of 3 in 0.5s",
        "--- FAIL: TestX (0.00s)\n--- PASS: TestX (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s",
        " LOGGING RETRY ERRORS  draws\n RETRY 1\n  ✓ draws (3 ms)\nTests: 1 failed, 1 passed, 2 total",
        "=== run 1\nOK\n=== run 2\nFAILED (failures=1)\n",
        ">>> run 1 of 2 (no changes)\n<<< exit 0\n>>> run 2 of 2 (no changes)\n<<< exit 1\n",
        "    Test #1: area ....   Passed    0.01 sec\n    Test #1: area ....***Failed    0.01 sec",
        "E   OSError: [Errno 98] Address already in use",
        "Error: listen EADDRINUSE: address already in use 127.0.0.1:48245",
    ],
)  # fmt: skip
def test_the_log_itself_shows_it(text):
    assert flaky(*log(text))


@pytest.mark.parametrize(
    "text",
    [
        "a.py::test_x RERUN\na.py::test_x RERUN\na.py::test_x FAILED [100%]\n= 1 failed, 2 rerun in 0.5s =",
        "E   AssertionError: race of intermittent timeouts, flaky",
        "panic: test timed out after 3s",
        "E   ConnectionRefusedError: [Errno 111] Connection refused",
        "py38: commands[0]> pytest -v\nt.py::test_x PASSED\npy39: commands[0]> pytest -v\nt.py::test_x "
        "FAILED",
        "     Running unittests a/lib.rs (target/a)\ntest tests::it ... ok\n     Running unittests "
        "b/lib.rs (target/b)\ntest tests::it ... FAILED",
        "ok  \texample.com/a\t0.01s\nFAIL\texample.com/b\t0.01s",
        "E   assert 'address already in use' == 'ok'\nexpected: EADDRINUSE",
        "2 examples, 0 failures\n2 examples, 1 failure",
    ],
)  # fmt: skip
def test_what_only_looks_like_it(text):
    assert flaky(*log(text)) is None


def test_the_same_failure_that_comes_and_goes_where_no_change_was_recorded():
    assert flaky(red("a"), green(), red("a"))
    assert flaky(red("a"), green(), red("b")) is None
