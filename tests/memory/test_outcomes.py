"""What a run teaches: only a proven green is a fix, and only what was parsed is a failure."""

from __future__ import annotations

from dataclasses import replace

from buildloop.diagnosis.fingerprint import fingerprint
from buildloop.diagnosis.model import ErrorClass, FailureMode, Finding
from buildloop.gate.read import read_text
from buildloop.memory.outcomes import as_failure, last_outcomes, red_findings, stage_of
from buildloop.models import Verdict
from buildloop.redact import MASK, redactor
from tests.support.states import GREEN, iteration, report, state

BOTH, ONLY_B = report(failing=("t::a", "t::b")), report(failing=("t::b",))


def outcomes(*gates):
    """{test: fixed} after the last of these iterations; the first is the baseline."""
    after = state(*(iteration(number, gate) for number, gate in enumerate(gates)))
    return {one.failure.finding.test: one.fixed for one in last_outcomes(after)}


def fewer_tests(gate, run=5):
    return gate.model_copy(
        update={"reading": replace(gate.reading, counts=replace(gate.reading.counts, run=run))}
    )


def test_a_green_gate_fixes_everything_that_was_red():
    assert outcomes(BOTH, GREEN) == {"t::a": True, "t::b": True}


def test_in_a_red_gate_what_is_no_longer_failing_is_fixed_and_the_rest_is_not():
    assert outcomes(BOTH, ONLY_B) == {"t::a": True, "t::b": False}


def test_a_runner_that_stopped_early_proves_nothing():
    assert outcomes(BOTH, fewer_tests(ONLY_B)) == {"t::a": None, "t::b": False}


def test_a_gate_that_gave_no_answer_proves_nothing():
    assert outcomes(BOTH, report(Verdict.TIMED_OUT, failing=())) == {"t::a": None, "t::b": None}


def test_a_gate_that_was_tampered_with_proves_nothing():
    cheated = report(failing=("x",))
    finding = Finding(message="a test was deleted", tool="integrity")
    cheated = cheated.model_copy(
        update={"reading": replace(cheated.reading, findings=(finding,), failing=())}
    )
    assert outcomes(BOTH, cheated) == {"t::a": None, "t::b": None}
    assert red_findings(cheated) == {}


def test_a_test_that_fails_otherwise_now_is_not_fixed():
    other = ONLY_B.model_copy(
        update={"reading": replace(ONLY_B.reading, findings=(Finding(message="new reason", test="t::b"),))}
    )
    assert outcomes(ONLY_B, other) == {"t::b": False}


def test_what_turned_green_without_a_change_is_no_fix():
    untouched = iteration(1, GREEN)
    point = untouched.agent.checkpoint
    same = point.model_copy(update={"commit": point.parent})
    untouched = untouched.model_copy(
        update={"agent": untouched.agent.model_copy(update={"checkpoint": same})}
    )
    after = state(iteration(0, BOTH), untouched)
    assert [one.fixed for one in last_outcomes(after)] == [None, None]


def test_a_flaky_test_is_nobodys_fix():
    """It failed and passed on one tree; that it passes later teaches nothing."""
    shaky = iteration(0, report(failing=("t::a",))).with_report(ONLY_B)
    assert [one.failure.finding.test for one in last_outcomes(state(shaky, iteration(1, GREEN)))] == []


def test_pitfall_34_a_test_that_turns_out_to_be_flaky_is_no_fix_then_or_later():
    shaky = iteration(1, report(failing=("t::a",))).with_report(GREEN)
    red = iteration(0, report(failing=("t::a",)))
    assert not [one for one in last_outcomes(state(red, shaky)) if one.fixed]
    again = (red, shaky, iteration(2, report(failing=("t::a",))), iteration(3, GREEN))
    assert not [one for upto in (3, 4) for one in last_outcomes(state(*again[:upto])) if one.fixed]


def test_pitfall_34_what_a_rollback_took_back_is_nobodys_fix():
    """Iteration 1 broke a; the tree without it is restored, and iteration 2 does something else."""
    broke = iteration(1, BOTH, mode=FailureMode.INFINITE_LOOP, back_to="0" * 40)
    after = state(iteration(0, ONLY_B), broke, iteration(2, ONLY_B))
    assert {one.failure.finding.test: one.fixed for one in last_outcomes(after)} == {"t::b": False}


def test_after_a_rollback_what_is_mended_is_measured_from_the_restored_tree():
    stuck = iteration(1, BOTH, mode=FailureMode.INFINITE_LOOP, back_to="0" * 40)
    (one,) = last_outcomes(state(iteration(0, ONLY_B), stuck, iteration(2, GREEN)))
    assert (one.fixed, one.direct, one.failure.last_red) == (True, True, "0" * 40)


def test_pitfall_34_what_was_not_red_right_before_is_no_fix_of_this_iteration():
    """A failure without a test vanishes unseen while others are red; the whole work is not its fix."""
    nameless = ONLY_B.model_copy(
        update={"reading": replace(ONLY_B.reading, findings=(Finding(message="cannot link"),), failing=())}
    )
    after = state(iteration(0, nameless), iteration(1, ONLY_B), iteration(2, ONLY_B), iteration(3, GREEN))
    direct = {one.failure.finding.message: one.direct for one in last_outcomes(after)}
    assert direct == {"cannot link": False, "t::b is wrong": True}


def test_a_quarantined_test_is_not_taken_for_fixed():
    excused = GREEN.model_copy(update={"excused": (Finding(message="t::a is wrong", test="t::a"),)})
    assert outcomes(BOTH, excused) == {"t::a": None, "t::b": True}


def test_the_change_is_measured_from_where_the_failure_was_last_and_first_red():
    """It was hidden by another failure in between: the iterations since then made it green."""
    hidden = fewer_tests(report(failing=("t::c",)), run=1)
    after = state(iteration(0, BOTH), iteration(1, BOTH), iteration(2, hidden), iteration(3, GREEN))
    found = {one.failure.finding.test: one.failure for one in last_outcomes(after)}["t::a"]
    assert (found.first_red, found.last_red) == ("0" * 40, f"{1:040d}")
    assert (found.at.iteration, found.at.run) == (1, "r1")


def test_a_failure_that_comes_back_starts_anew():
    after = state(iteration(0, ONLY_B), iteration(1, GREEN), iteration(2, ONLY_B), iteration(3, GREEN))
    (one,) = last_outcomes(after)
    assert (one.fixed, one.failure.first_red) == (True, f"{2:040d}")


def test_pitfall_37_what_is_remembered_is_a_parsed_failure_not_a_line_with_the_word_error():
    log = (
        "tests/test_error_paths.py::test_ok PASSED\ntests/test_error_paths.py::test_bad FAILED\n"
        "=== FAILURES ===\n___ test_bad ___\n\nE   ValueError: no such rate\n\n"
        "tests/test_error_paths.py:9: ValueError\n"
        "FAILED tests/test_error_paths.py::test_bad - ValueError: no such rate\n1 failed, 1 passed in 0.01s\n"
    )
    gate = report().model_copy(update={"reading": read_text(log, 1)})
    kept = [as_failure(one, FailureMode.CODE_ERROR, redactor({})) for one in red_findings(gate).values()]
    assert [one.test for one in kept] == ["tests/test_error_paths.py::test_bad"]
    assert all("PASSED" not in one.message for one in kept)


def test_a_green_gate_leaves_nothing_to_remember():
    assert red_findings(GREEN) == {}


def test_pitfall_50_secrets_are_masked_before_they_are_remembered():
    token = "ghp_" + "a1B2" * 10
    secret = Finding(
        message=f"HTTPError: bad token {token} for hunter2-long", test=f"t::{token}", tool="pytest"
    )
    kept = as_failure(secret, FailureMode.CODE_ERROR, redactor({"DB_PASSWORD": "hunter2-long"}))
    assert token not in kept.model_dump_json()
    assert "hunter2-long" not in kept.model_dump_json()
    assert MASK in kept.message
    assert kept.fingerprint == fingerprint(secret)


def test_class_and_stage_come_from_the_finding():
    wrong = Finding(message="assert 1 == 2", type="AssertionError", test="t::a", tool="pytest")
    assert as_failure(wrong, FailureMode.CODE_ERROR, redactor({})).error_class is ErrorClass.ASSERTION_FAILURE
    stages = {"ruff": "lint", "tsc": "build", "npm": "install", "nothing": "build"}
    assert {tool: stage_of(Finding(message="x", tool=tool)) for tool in stages} == stages
    assert stage_of(wrong) == "test"
