"""The gate: four verdicts, all commands run, the worst one counts."""

from __future__ import annotations

import os
import sys

import pytest

from buildloop.gate.run import GateSetup, run_gate
from buildloop.models import GateReport, Verdict
from buildloop.redact import MASK, redactor

# These wait for real processes to end or to be ended.
pytestmark = pytest.mark.slow


@pytest.fixture
def gate(tmp_path):
    def run(*commands: str, timeout: float = 60, environment: dict | None = None) -> GateReport:
        env = {**os.environ, **(environment or {})}
        out = tmp_path / "run" / "iterations"
        setup = GateSetup(
            tmp_path, tmp_path / "run", out, env, timeout, "m", redactor(env), "id", tmp_path / "green"
        )
        return run_gate(commands, setup, "tree")

    return run


def test_exit_0_is_passed_and_anything_else_failed(gate):
    assert gate("true").verdict is Verdict.PASSED
    assert gate("exit 3").verdict is Verdict.FAILED
    assert gate("exit 3").commands[0].exit_code == 3


def test_over_time_is_timed_out_with_the_limit_in_words(gate):
    report = gate("sleep 600", timeout=0.2)
    assert report.verdict is Verdict.TIMED_OUT
    assert "did not finish within 0.2 s" in report.explanation


@pytest.mark.parametrize("command", ["no-such-program -q", "./missing.sh", "FLAG=1 no-such-program"])
def test_a_program_that_is_not_there_could_not_run(gate, command):
    report = gate(command)
    assert report.verdict is Verdict.COULD_NOT_RUN
    assert "was not found or is not executable" in report.explanation


def test_a_program_that_is_not_executable_could_not_run(gate, tmp_path):
    (tmp_path / "gate.sh").write_text("#!/bin/sh\n")
    assert gate("./gate.sh").verdict is Verdict.COULD_NOT_RUN


@pytest.mark.parametrize(
    "command", ["cd . && no-such-program", "sh -c 'no-such-program'", "(cd . && no-such-program)", "exit 127"]
)
def test_a_tool_missing_further_in_is_a_red_gate(gate, command):
    """The gate itself ran: what it needs is for the agent or the install to mend."""
    assert gate(command).verdict is Verdict.FAILED


def test_all_commands_run_also_after_a_red_one(gate):
    report = gate("echo first; false", "echo second", "echo third; false")
    assert [one.verdict for one in report.commands] == [Verdict.FAILED, Verdict.PASSED, Verdict.FAILED]
    assert report.verdict is Verdict.FAILED


def test_the_worst_verdict_is_the_gates(gate):
    assert gate("true", "false").verdict is Verdict.FAILED
    assert gate("false", "sleep 600", timeout=0.5).verdict is Verdict.TIMED_OUT
    assert gate("false", "no-such-program").verdict is Verdict.COULD_NOT_RUN


def test_each_command_has_its_own_log_with_secrets_masked(gate, tmp_path):
    report = gate('echo "one $MY_TOKEN"', "echo two >&2", environment={"MY_TOKEN": "very-secret-value"})
    texts = [(tmp_path / "run" / one.log).read_text() for one in report.commands]
    assert texts == [f"one {MASK}\n", "two\n"]


def test_a_green_gate_has_no_error_lines_whatever_it_printed(gate):
    """Passing tests with 'error' in their names are not errors."""
    report = gate("echo 'tests/test_error_paths.py::test_fails PASSED'; echo 'ERROR: handled, 0 failed'")
    assert report.passed
    assert (report.reading.error_lines, report.reading.findings, report.failing_count) == ((), (), 0)
    assert report.tail == ""


def test_a_red_gate_that_says_nothing_counts_as_one_failure(gate):
    report = gate("false")
    assert report.failing_count == 1
    assert report.in_words == "1 failing"


def test_the_failing_tests_are_read_from_the_log(gate, tmp_path):
    (tmp_path / "test_x.py").write_text(
        "import unittest\nclass X(unittest.TestCase):\n"
        "    def test_a(self): self.assertEqual(1, 2)\n    def test_b(self): pass\n"
    )
    report = gate(f"{sys.executable} -m unittest -v")
    assert report.failing_count == 1
    assert "test_a" in report.reading.failing[0]
    assert (report.reading.counts.run, report.reading.counts.passed) == (2, 1)


def test_the_tail_is_plain_text_of_bounded_size(gate):
    report = gate(
        "i=0; while [ $i -lt 300 ]; do printf '\\033[31mline %d\\033[0m\\r\\n' $i; i=$((i+1)); done; false"
    )
    assert report.tail.endswith("line 299")
    assert "\x1b" not in report.tail
    assert len(report.tail.splitlines()) <= 60


def test_a_line_of_200_kb_is_read_and_shortened(gate):
    report = gate("head -c 200000 /dev/zero | tr '\\0' x; echo; echo AssertionError: 1 != 2; false")
    assert report.verdict is Verdict.FAILED
    assert len(report.tail) < 30_000
    assert "AssertionError: 1 != 2" in report.tail
    assert len(report.model_dump_json()) < 100_000
