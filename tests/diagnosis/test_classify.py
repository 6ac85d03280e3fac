"""The verdict: first answer, runner-up, and what a code error could turn out to be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.model import FailureMode
from tests.diagnosis.builders import green, log, red

OVERFLOW = "Prompt is too long\n"


def test_a_full_window_explains_any_failure():
    history = log("E   ModuleNotFoundError: No module named 'redis'", agent_output=OVERFLOW)
    diagnosis = diagnose(history)
    assert diagnosis.mode is FailureMode.CONTEXT_EXHAUSTION
    assert diagnosis.runner_up is FailureMode.DEPENDENCY_ISSUE


def test_a_missing_package_is_no_loop_however_often_it_is_missing():
    history = log("E   ModuleNotFoundError: No module named 'redis'") * 4
    diagnosis = diagnose(history)
    assert diagnosis.mode is FailureMode.DEPENDENCY_ISSUE
    assert diagnosis.runner_up is FailureMode.INFINITE_LOOP


def test_flaky_before_stuck():
    history = [green("A"), *(red("a", tree="A", changed=False) for _ in range(3))]
    diagnosis = diagnose(history)
    assert diagnosis.mode is FailureMode.TEST_FLAKINESS
    assert diagnosis.runner_up is FailureMode.INFINITE_LOOP


@pytest.mark.parametrize(
    ("history", "suspected"),
    [
        ([red("a", tree="1"), red("a", tree="2")], FailureMode.INFINITE_LOOP),
        (log("E   ModuleNotFoundError: No module named 'helpers'"), FailureMode.DEPENDENCY_ISSUE),
        (log("panic: test timed out after 3s"), FailureMode.TEST_FLAKINESS),
        (log("E   assert 1 == 2"), None),
    ],
)
def test_a_code_error_names_what_it_could_turn_out_to_be(history, suspected):
    diagnosis = diagnose(history)
    assert (diagnosis.mode, diagnosis.runner_up) == (FailureMode.CODE_ERROR, suspected)


def test_a_well_filled_window_is_suspect_while_the_agent_works():
    diagnosis = diagnose([red("a", context_tokens=170_000, changed=True)], context_window=200_000)
    assert (diagnosis.mode, diagnosis.runner_up) == (FailureMode.CODE_ERROR, FailureMode.CONTEXT_EXHAUSTION)


@given(st.text(), st.text(), st.sampled_from([None, 0, 1, 124]))
def test_any_text_gets_a_diagnosis(text, said, exit_code):
    diagnosis = diagnose(log(text, exit_code, agent_output=said))
    assert 0 < diagnosis.confidence <= 1


@given(st.binary())
def test_any_bytes_get_a_diagnosis(data):
    assert diagnose(log(data.decode("utf-8", "replace"))).mode in FailureMode
