"""What is derived from the finished iterations: best tree, head, notes, sums."""

from __future__ import annotations

from dataclasses import replace

from buildloop.attempts import attempts_of, flaky_tests
from buildloop.diagnosis.model import FailureMode, TestCounts
from buildloop.ledger import add_up
from buildloop.models import Usage, Verdict
from buildloop.prompt.compose import compose_prompt
from tests.support.states import GREEN, RED, START, iteration, report, state

TWO = report(failing=("t::a", "t::b"))


def test_the_head_is_the_last_checkpoint_or_where_a_redirect_went():
    assert state(iteration(0, RED)).head == START
    assert state(iteration(0, RED), iteration(1, RED)).head == f"{1:040d}"
    back = iteration(2, RED, mode=FailureMode.INFINITE_LOOP, back_to="b" * 40)
    assert state(iteration(0, RED), iteration(1, RED), back).head == "b" * 40


def test_the_best_is_the_earliest_with_the_fewest_failures():
    now = state(iteration(0, TWO), iteration(1, RED), iteration(2, RED), iteration(3, TWO))
    assert now.best.number == 1
    assert now.best_commit == f"{1:040d}"


def test_a_gate_that_did_not_answer_is_not_the_best():
    """A timeout names no failing test; it is not better than two that are known."""
    silent = report(Verdict.TIMED_OUT, failing=())
    assert state(iteration(0, TWO), iteration(1, silent)).best.number == 0


def test_a_tree_that_does_not_even_compile_is_not_the_best():
    """One error kept every test from running; that is worse than two failures among ten."""
    broken = report(failing=("ERROR tests/test_a.py",))
    broken = broken.model_copy(
        update={"reading": replace(broken.reading, counts=TestCounts(run=1, failed=1))}
    )
    assert state(iteration(0, TWO), iteration(1, broken)).best.number == 0


def test_a_note_is_told_once():
    noted = iteration(1, RED, mode=FailureMode.DEPENDENCY_ISSUE, note="declare tinymoney")
    now = state(iteration(0, RED), noted)
    assert "declare tinymoney" in compose_prompt(now).text
    after = now.with_iteration(iteration(2, RED, mode=FailureMode.CODE_ERROR))
    assert "declare tinymoney" not in compose_prompt(after).text


def test_a_redirect_holds_as_long_as_its_failure_and_no_longer():
    stuck = iteration(1, RED, mode=FailureMode.INFINITE_LOOP, note="not that way")
    now = state(iteration(0, RED), stuck, iteration(2, RED))
    assert now.redirect == "not that way"
    other = report(failing=("t::other",))
    assert state(iteration(0, RED), stuck, iteration(2, other)).redirect == ""
    assert state(iteration(0, RED), stuck, iteration(2, GREEN)).redirect == ""


def test_sums_are_over_all_sessions_and_the_unknown_stays_unknown():
    first = Usage(input_tokens=10, cost_usd=0.5)
    second = Usage(input_tokens=20, output_tokens=3, cost_usd=1.25)
    total = add_up([first, second])
    assert (total.input_tokens, total.output_tokens, total.cost_usd) == (30, 3, 1.75)
    assert total.cache_read_tokens is None
    assert add_up([]) == Usage()


def test_a_test_with_two_outcomes_on_one_tree_is_flaky():
    assert flaky_tests(iteration(1, TWO).with_report(RED)) == {"t::b"}
    assert flaky_tests(iteration(1, RED).with_report(RED)) == set()
    assert flaky_tests(iteration(1, RED).with_report(GREEN)) == {"t::a"}


def test_a_rerun_that_says_the_same_is_one_attempt():
    assert len(attempts_of(iteration(1, RED).with_report(RED))) == 1
    assert [attempt.passed for attempt in attempts_of(iteration(1, RED).with_report(GREEN))] == [False, True]


def test_a_probe_is_worth_it_once_for_each_failure():
    now = state(iteration(0, RED))
    assert not now.worth_probing(RED)
    assert now.worth_probing(TWO)
    assert not now.worth_probing(GREEN)
    assert not now.worth_probing(report(Verdict.TIMED_OUT, failing=("t::new",)))


def test_what_failed_before_an_install_is_no_proof_that_a_test_is_flaky():
    """The import error hid the test; that it fails now, on the same tree, is news and not another outcome."""
    before, after = report(failing=("test_receipt",)), report(failing=("test_receipt.Receipt.test_line",))
    installed = iteration(0, before).after_install().with_report(after)
    assert flaky_tests(installed) == set()
    assert len(attempts_of(installed)) == 1
    assert flaky_tests(iteration(0, before).with_report(after)) != set()


def test_an_excused_failure_is_no_pass_and_makes_no_test_flaky():
    excused = GREEN.model_copy(update={"excused": RED.reading.findings})
    twice_red = iteration(1, excused).with_report(RED)
    assert flaky_tests(twice_red) == set()
    assert [attempt.passed for attempt in attempts_of(twice_red)] == [False]


def test_a_gate_that_stops_at_its_first_failure_says_nothing_about_other_tests():
    def fail_fast(test):
        found = report(failing=(test,))
        ran = found.commands[0].model_copy(update={"command": "pytest -x -n auto"})
        return found.model_copy(update={"commands": (ran,)})

    assert flaky_tests(iteration(1, fail_fast("t::a")).with_report(fail_fast("t::b"))) == set()
    assert flaky_tests(iteration(1, fail_fast("t::a")).with_report(GREEN)) == {"t::a"}


def test_of_green_trees_the_latest_is_the_best():
    done = [iteration(0, GREEN), iteration(1, report(Verdict.PASSED, tree="tree-1")), iteration(2, RED)]
    assert state(*done).best.number == 1
