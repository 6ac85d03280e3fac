"""A gate that dies, floods or fails a hundred thousand times is a red gate of bounded size, and nothing of it stays."""

from __future__ import annotations

import os
import sys
import textwrap

import pytest

from buildloop.capture import HEAD_BYTES, TAIL_BYTES
from buildloop.gate.read import MAX_FAILING, MAX_FINDINGS
from buildloop.gate.run import GateSetup, run_gate
from buildloop.models import GateReport, Verdict
from buildloop.redact import redactor
from tests.support.waiting import processes_with

pytestmark = pytest.mark.slow


@pytest.fixture
def gate(tmp_path):
    def run(script: str, timeout: float = 120) -> GateReport:
        (tmp_path / "gate.py").write_text(textwrap.dedent(script))
        out = tmp_path / "run" / "iterations"
        setup = GateSetup(
            tmp_path, tmp_path / "run", out, os.environ, timeout, str(tmp_path), redactor({}), "id", tmp_path
        )
        return run_gate([f"{sys.executable} gate.py"], setup, "tree")

    return run


def test_a_gate_that_is_killed_for_want_of_memory_is_red_with_137(gate):
    report = gate("""
        import os, signal
        print("FAILED t.py::test_a - MemoryError", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    assert report.verdict is Verdict.FAILED
    assert report.commands[0].exit_code == 137
    assert "MemoryError" in report.tail


def test_a_killed_guard_takes_all_that_it_held_with_it(gate, tmp_path):
    """The kernel may choose the guard instead of the gate; what it watched over must neither stay nor be waited for."""
    report = gate("""
        import os, signal, subprocess, sys, time
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        os.kill(int(os.popen("ps -o ppid= -p %d" % os.getppid()).read()), signal.SIGKILL)
        time.sleep(600)
    """)
    assert report.verdict is Verdict.FAILED
    assert report.commands[0].exit_code == 137
    assert processes_with(str(tmp_path)) == []


def test_output_without_end_is_kept_at_both_ends_only(gate, tmp_path):
    report = gate("""
        import sys
        print("first words")
        for _ in range(70):
            sys.stdout.write(("x" * 1023 + "\\n") * 1024)
        print("FAILED t.py::test_last - boom")
        sys.exit(1)
    """)
    log = tmp_path / "run" / report.commands[0].log
    assert log.stat().st_size < HEAD_BYTES + TAIL_BYTES + 100
    assert report.reading.failing == ("t.py::test_last",)
    with log.open("rb") as stream:
        assert stream.readline() == b"first words\n"
    assert len(report.model_dump_json()) < 200_000


def test_100_000_findings_make_a_report_of_bounded_size(gate):
    report = gate("""
        import sys
        for number in range(100_000):
            print(f"FAILED tests/test_{number % 999}.py::test_{number} - AssertionError: {number} is wrong")
        print("=== 100000 failed in 3.00s ===")
        sys.exit(1)
    """)
    assert 0 < len(report.reading.findings) <= MAX_FINDINGS
    assert 0 < len(report.reading.failing) <= MAX_FAILING
    assert report.failing_count == 100_000
    assert len(report.model_dump_json()) < 1_000_000
