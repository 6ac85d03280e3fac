"""A rerun of the failing tests, read back into the report of the whole gate."""

from __future__ import annotations

from buildloop.diagnosis.model import Finding, LogReading, TestCounts
from buildloop.models import CommandResult, GateReport, Verdict
from buildloop.recovery.rerun.merge import merge_rerun


def report(verdict: Verdict, run: int, failing: tuple[str, ...]) -> GateReport:
    command = CommandResult(command=f"run {run}", verdict=verdict, exit_code=1, seconds=1.0, log="x.log")
    counts = TestCounts(run, run - len(failing), len(failing), 0)
    findings = tuple(Finding(message=test, test=test) for test in failing)
    return GateReport(
        verdict=verdict, tree="t", commands=(command,), reading=LogReading(findings, counts, failing, failing)
    )


FIRST = report(Verdict.FAILED, 10, ("a", "b"))


def test_all_pass_when_run_again():
    merged = merge_rerun(FIRST, report(Verdict.PASSED, 2, ()))
    assert merged.passed
    assert merged.reading.counts == TestCounts(10, 10, 0, 0)
    assert merged.reading.failing == ()
    assert "a, b" in merged.explanation


def test_what_still_fails_is_counted_against_the_whole():
    merged = merge_rerun(FIRST, report(Verdict.FAILED, 2, ("b",)))
    assert not merged.passed
    assert merged.reading.counts == TestCounts(10, 9, 1, 0)
    assert merged.reading.failing == ("b",)
