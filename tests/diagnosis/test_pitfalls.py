"""Pitfalls of the old loop, each as it was observed there: these fail on the old behaviour."""

from __future__ import annotations

import json

import pytest

from buildloop.diagnosis import classify_build_loop_failure, diagnose
from buildloop.diagnosis.fingerprint import same_failure
from buildloop.diagnosis.model import Attempt, FailureMode
from tests.diagnosis.builders import CODE_DIFF, green, log, reading, red

TRACEBACK = (
    'Traceback (most recent call last):\n  File "calc.py", line 2, in <module>\n    1 / 0\n'
    "ZeroDivisionError: division by zero\n"
)


@pytest.mark.parametrize(
    "text",
    [TRACEBACK, "SyntaxError: missing closing brace", "KeyError: 'trace_id'", "E   KeyError: 'timeout'"],
)
def test_15_race_in_traceback_is_not_flaky(text):
    assert diagnose(log(text)).mode is FailureMode.CODE_ERROR


@pytest.mark.parametrize(
    "text",
    [
        "E   ImportError: cannot import name 'parse_config' from 'myapp.config' (/w/myapp/config.py)",
        "    Cannot find module './utlis' from 'src/cart.js'",
        "error[E0432]: unresolved import `crate::foo`",
    ],
)
def test_16_a_missing_local_name_is_not_a_dependency(text):
    assert diagnose(log(text)).mode is FailureMode.CODE_ERROR


@pytest.mark.parametrize(
    "text",
    [
        "TypeError: Cannot destructure property 'user' of 'AuthContext.Provider' as it is undefined.",
        "AttributeError: '_GeneratorContextManager' object has no attribute 'x'",
        "E   AssertionError: assert 'a long text (truncated)' == 'short'",
    ],
)
def test_18_the_word_context_is_not_exhaustion(text):
    assert diagnose(log(text)).mode is FailureMode.CODE_ERROR


def test_18_reaching_the_cap_of_iterations_is_not_exhaustion(tmp_path):
    (tmp_path / "error-summary.json").write_text(
        json.dumps({"iteration": 20, "error_lines": ["E   assert 1 == 2"]})
    )
    (tmp_path / "progress.md").write_text(
        "## Status\n- Iteration: 20/20\n- Tests passing: false\n- Status: running\n"
    )
    assert classify_build_loop_failure(tmp_path) == "code_error"


def test_19_fixing_one_bug_per_iteration_is_progress():
    history = [red("a", "b", "c", tree="1"), red("b", "c", tree="2"), red("c", tree="3")]
    for end in range(1, 4):
        assert diagnose(history[:end]).mode is FailureMode.CODE_ERROR
    other = [red(name, tree=name, diff=CODE_DIFF, changed=True) for name in "abcd"]
    assert diagnose(other).mode is FailureMode.CODE_ERROR


def test_20_flaky_history_is_seen_because_passes_are_kept():
    history = [red("a", tree="T"), green("T"), red("a", tree="T")]
    assert diagnose(history).mode is FailureMode.TEST_FLAKINESS


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("AssertionError: expected 401 to equal 200", FailureMode.CODE_ERROR),
        ("npm ERR! Could not resolve dependency:", FailureMode.DEPENDENCY_ISSUE),
        ("FAILED t.py::test_login_failure - assert 1 == 2", FailureMode.CODE_ERROR),
        ("FAIL src/x.test.ts (502 ms)", FailureMode.CODE_ERROR),
        ("API Error: 400 prompt is too long: 204311 tokens > 200000 maximum", FailureMode.CONTEXT_EXHAUSTION),
    ],
)
def test_22_loose_words_do_not_decide(text, mode):
    assert diagnose(log(text)).mode is mode


def test_23_a_loop_that_changes_files_and_failures_is_not_stuck():
    history = [red(name, tree=name, changed=True, diff=CODE_DIFF) for name in "abc"]
    assert diagnose(history).mode is FailureMode.CODE_ERROR


def test_24_the_same_error_thirteen_times_is_noticed_at_the_third():
    history = [
        Attempt(False, reading("test_tax", message="AssertionError: 19 != 20"), tree=str(n), changed=True)
        for n in range(13)
    ]
    modes = [diagnose(history[:end]).mode for end in range(1, 14)]
    assert modes == [FailureMode.CODE_ERROR] * 2 + [FailureMode.INFINITE_LOOP] * 11


def test_25_noise_and_enrichment_do_not_hide_the_same_error(tmp_path):
    assert same_failure(
        "/tmp/a1/tax.py:44: AssertionError: 19 != 20 (0.1s)",
        "/tmp/b2/tax.py:51: AssertionError: 19 != 20 (0.3s)",
    )
    for number, folder in enumerate([tmp_path / "restart-1", tmp_path / "restart-2", tmp_path]):
        folder.mkdir(exist_ok=True)
        raw = f"src/tax.py:{44 + number}: AssertionError: 19 != 20"
        summary = {"error_lines": [f"{raw} (recently changed: f{number}.py)"], "original_error_lines": [raw]}
        (folder / "error-summary.json").write_text(json.dumps(summary))
    assert classify_build_loop_failure(tmp_path) == "infinite_loop"


def test_26_a_green_gate_leaves_no_error():
    text = "tests/test_error_paths.py::test_ok PASSED\n12 passed, 0 failed\n"
    assert log(text, exit_code=0)[0].reading.error_lines == ()


def test_30_a_timeout_is_an_outcome_with_a_name():
    (attempt,) = log(
        "panic: test timed out after 3s\nrunning tests:\n\tTestSlow (3s)\n\nFAIL\texample.com/inv\t3.005s\n"
    )
    diagnosis = diagnose([attempt])
    assert diagnosis.mode is FailureMode.CODE_ERROR
    assert any("timed out" in line for line in attempt.reading.error_lines)


def test_failing_before_the_agent_began_is_said_so():
    baseline = reading("old")
    diagnosis = diagnose([red("old", "new")], baseline=baseline)
    assert diagnosis.preexisting == ("old",)
