"""What changed from gate to gate: which iteration brought a failure in, and whether a recovery helped."""

from __future__ import annotations

from buildloop.diagnosis.model import FailureMode
from buildloop.models import Tampering, Verdict
from buildloop.progress import Effect, introduced_by, recovery_effects
from tests.support.states import GREEN, RED, iteration, remedy, report, state

A_AND_B = report(failing=("t::a", "t::b"))
ONLY_B = report(failing=("t::b",))
BROKEN = report(Verdict.COULD_NOT_RUN, failing=())
FLAKY = FailureMode.TEST_FLAKINESS
WRONG = FailureMode.CODE_ERROR


def test_each_failure_is_traced_to_the_iteration_that_brought_it_in():
    done = [iteration(0, RED), iteration(1, RED), iteration(2, A_AND_B), iteration(3, A_AND_B)]
    assert introduced_by(done) == {"t::a": 0, "t::b": 2}


def test_a_failure_that_was_gone_and_came_back_counts_from_its_return():
    done = [iteration(0, A_AND_B), iteration(1, ONLY_B), iteration(2, A_AND_B)]
    assert introduced_by(done) == {"t::a": 2, "t::b": 0}


def test_a_gate_without_an_answer_does_not_hide_where_a_failure_comes_from():
    done = [iteration(0, RED), iteration(1, BROKEN), iteration(2, RED)]
    assert introduced_by(done) == {"t::a": 0}


def test_nothing_is_introduced_by_a_green_gate():
    assert introduced_by([iteration(0, RED), iteration(1, GREEN)]) == {}


def effects(*iterations):
    return [(found.iteration, found.effect) for found in recovery_effects(iterations)]


def test_what_the_agent_was_told_is_judged_by_the_next_iteration():
    told = iteration(1, A_AND_B, mode=WRONG)
    assert effects(told, iteration(2, ONLY_B)) == [(1, Effect.BETTER)]
    assert effects(told, iteration(2, A_AND_B)) == [(1, Effect.SAME)]
    assert effects(told, iteration(2, GREEN)) == [(1, Effect.SOLVED)]
    assert effects(iteration(1, RED, mode=WRONG), iteration(2, A_AND_B)) == [(1, Effect.WORSE)]
    assert effects(told, iteration(2, BROKEN)) == [(1, Effect.WORSE)]
    assert effects(told) == [(1, Effect.UNKNOWN)]


def test_a_rerun_is_judged_by_the_gate_on_the_same_tree():
    rerun = iteration(1, RED, mode=FLAKY, helped=True).with_report(GREEN)
    assert effects(rerun, iteration(2, A_AND_B)) == [(1, Effect.SOLVED)]


def test_a_rerun_that_stayed_red_and_what_followed_are_two_recoveries():
    both = iteration(1, A_AND_B, mode=FLAKY, helped=True).with_report(ONLY_B).with_remedy(remedy(WRONG))
    assert effects(both, iteration(2, GREEN)) == [(1, Effect.BETTER), (1, Effect.SOLVED)]


def test_a_tree_that_tampers_with_the_gate_is_never_the_best_one():
    done = Tampering(rule="gone", file="test_calc.py", text="test_calc.py was deleted")
    honest, fooled = iteration(1, A_AND_B), iteration(2, ONLY_B.model_copy(update={"tampering": (done,)}))
    assert state(iteration(0, report(failing=("t::a", "t::b", "t::c"))), honest, fooled).best is honest
