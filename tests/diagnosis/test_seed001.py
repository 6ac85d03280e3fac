"""The 28 test cases that the design of failure modes lists, under the names it gives them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from buildloop.diagnosis import (
    classify_build_loop_failure,
    detect_context_exhaustion,
    detect_dependency_issue,
    detect_infinite_loop,
    detect_test_flakiness,
)
from buildloop.diagnosis.run_dir import read_history

ASSERTION = "E       assert 12 == 8"
ERESOLVE = "npm ERR! code ERESOLVE"


def write_attempt(
    folder: Path, *lines: str, status: str = "running", passing: bool = False, iteration: int = 1
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    summary = {
        "iteration": iteration,
        "error_count": len(lines),
        "error_lines": list(lines),
        "test_cmd": "make test",
    }
    (folder / "error-summary.json").write_text(json.dumps(summary))
    (folder / "progress.md").write_text(
        "# Session Progress\n\n## Goal\nStatus: stuck is a word in the goal\n\n## Status\n"
        f"- Iteration: {iteration}/20\n- Tests passing: {str(passing).lower()}\n- Status: {status}\n\n## "
        f"Last Error\n"
    )
    return folder


def write_run(folder: Path, *attempts: tuple[str, ...]) -> Path:
    for number, lines in enumerate(attempts[:-1], start=1):
        write_attempt(folder / f"restart-{number}", *lines, passing=not lines)
    return write_attempt(folder, *attempts[-1])


# Group 1: classify_build_loop_failure


def test_01_returns_dependency_issue_for_module_not_found_errors(tmp_path):
    write_attempt(tmp_path, "Module not found: Error: Can't resolve 'left-pad' in '/home/me/shop/src'")
    assert classify_build_loop_failure(tmp_path) == "dependency_issue"


def test_02_returns_dependency_issue_for_npm_eresolve_errors(tmp_path):
    write_attempt(tmp_path, ERESOLVE, "npm ERR! ERESOLVE unable to resolve dependency tree")
    assert classify_build_loop_failure(tmp_path) == "dependency_issue"


def test_03_returns_dependency_issue_for_modulenotfounderror_errors(tmp_path):
    write_attempt(tmp_path, "ModuleNotFoundError: No module named 'sqlalchemy'")
    assert classify_build_loop_failure(tmp_path) == "dependency_issue"


def test_04_returns_test_flakiness_for_alternating_pass_fail_history(tmp_path):
    write_run(tmp_path, (ASSERTION,), (), (ASSERTION,))
    assert classify_build_loop_failure(tmp_path) == "test_flakiness"


def test_05_returns_test_flakiness_for_eaddrinuse_errors(tmp_path):
    write_attempt(tmp_path, "Error: listen EADDRINUSE: address already in use 127.0.0.1:3000")
    assert classify_build_loop_failure(tmp_path) == "test_flakiness"


def test_06_returns_infinite_loop_for_3_or_more_repeated_same_errors(tmp_path):
    write_run(tmp_path, (ASSERTION,), (ASSERTION,), (ASSERTION,))
    assert classify_build_loop_failure(tmp_path) == "infinite_loop"


def test_07_returns_infinite_loop_for_stuck_status_in_progress_md(tmp_path):
    write_attempt(tmp_path, ASSERTION, status="stuck")
    assert classify_build_loop_failure(tmp_path) == "infinite_loop"


def test_08_returns_context_exhaustion_for_exhausted_status(tmp_path):
    write_attempt(tmp_path, ASSERTION, status="exhausted")
    assert classify_build_loop_failure(tmp_path) == "context_exhaustion"


@pytest.mark.parametrize(
    "line",
    [
        "API Error: 400 prompt is too long: 204311 tokens > 200000 maximum",
        "Error: This model's maximum context length is 128000 tokens",
        "openai.BadRequestError: Error code: 400 - {'error': {'code': 'context_length_exceeded'}}",
    ],
)
def test_09_returns_context_exhaustion_for_token_and_context_error_patterns(tmp_path, line):
    write_attempt(tmp_path, line)
    assert classify_build_loop_failure(tmp_path) == "context_exhaustion"


def test_10_returns_code_error_as_default(tmp_path):
    write_attempt(tmp_path, ASSERTION, "FAILED tests/test_cart.py::test_total - assert 12 == 8")
    assert classify_build_loop_failure(tmp_path) == "code_error"


def test_11_returns_code_error_when_error_summary_json_is_missing(tmp_path):
    assert classify_build_loop_failure(tmp_path) == "code_error"
    assert classify_build_loop_failure(tmp_path / "nowhere") == "code_error"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    "text", ["{", "[]", "null", '{"error_lines": 3}', '{"error_lines": [1, null]}', "\x00\xff"]
)
def test_12_returns_code_error_when_error_summary_json_is_malformed(tmp_path, text):
    (tmp_path / "error-summary.json").write_text(text)
    assert classify_build_loop_failure(tmp_path) == "code_error"


# Group 2 (13 to 18) is the strategy table's: tests/recovery.
# Group 3: the detectors


def test_19_detect_test_flakiness_returns_0_with_alternating_pass_fail_history(tmp_path):
    assert detect_test_flakiness(read_history(write_run(tmp_path, (), (ASSERTION,), (), (ASSERTION,))))


def test_20_detect_test_flakiness_returns_1_with_consistent_failures(tmp_path):
    assert (
        detect_test_flakiness(read_history(write_run(tmp_path, (ASSERTION,), (ASSERTION,), (ASSERTION,))))
        is None
    )


def test_21_detect_infinite_loop_returns_0_with_3_or_more_identical_error_lines(tmp_path):
    assert detect_infinite_loop(read_history(write_run(tmp_path, *[(ASSERTION,)] * 4)))


def test_22_detect_infinite_loop_returns_1_with_varying_errors(tmp_path):
    varying = [("E   assert 1 == 2",), ("E   KeyError: 'a'",), ("E   NameError: name 'x' is not defined",)]
    assert detect_infinite_loop(read_history(write_run(tmp_path, *varying))) is None


def test_23_detect_dependency_issue_returns_0_with_npm_eresolve_in_error_lines(tmp_path):
    assert detect_dependency_issue(read_history(write_attempt(tmp_path, ERESOLVE)))


def test_24_detect_dependency_issue_returns_1_with_assertion_errors(tmp_path):
    assert detect_dependency_issue(read_history(write_attempt(tmp_path, ASSERTION))) is None


def test_25_detect_context_exhaustion_returns_0_with_exhausted_status(tmp_path):
    assert detect_context_exhaustion(read_history(write_attempt(tmp_path, ASSERTION, status="exhausted")))


def test_26_detect_context_exhaustion_returns_1_with_normal_running_status(tmp_path):
    assert detect_context_exhaustion(read_history(write_attempt(tmp_path, ASSERTION))) is None


# Group 4: integration


def test_27_classification_writes_well_formed_failure_mode_json(tmp_path):
    write_attempt(tmp_path, ERESOLVE)
    mode = classify_build_loop_failure(tmp_path)
    record = json.loads((tmp_path / "failure-mode.json").read_text())
    assert record["mode"] == mode == "dependency_issue"
    assert set(record) == {"mode", "confidence", "evidence", "timestamp", "runner_up", "forced"}
    assert 0 < record["confidence"] <= 1
    assert any("ERESOLVE" in line for line in record["evidence"])
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_28_priority_dependency_issue_beats_code_error_with_mixed_signals(tmp_path):
    write_attempt(tmp_path, ASSERTION, "E   ModuleNotFoundError: No module named 'redis'")
    assert classify_build_loop_failure(tmp_path) == "dependency_issue"
