"""Flaky tests step aside by verdict, for a while, and never take another failure with them."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.diagnosis.model import Finding, LogReading, TestCounts
from buildloop.errors import InputError
from buildloop.models import CommandResult, GateReport, Verdict
from buildloop.recovery.quarantine import EXPIRY, Evidence, add, entries, judge, quarantined

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SEEN = Evidence(run="r1", tree="abc", outcomes=("failed", "passed"))
ROOT = Path(__file__).parents[2]


def report(*failing: str, verdict: Verdict = Verdict.FAILED, **reading: object) -> GateReport:
    findings = tuple(Finding("boom", "pytest", test) for test in failing)
    log = LogReading(**{"findings": findings, "failing": failing, **reading})
    ran = CommandResult(command="pytest", verdict=verdict, exit_code=1, seconds=1, log="gate.log")
    return GateReport(verdict=verdict, tree="abc", commands=(ran,), reading=log, tail="…")


def test_a_gate_whose_only_failures_are_quarantined_passes_and_says_so():
    judged = judge(report("a", "b"), {"a", "b", "c"})
    assert judged.passed
    assert judged.failing_count == 0
    assert "a, b" in judged.explanation
    assert [finding.test for finding in judged.excused] == ["a", "b"]
    assert GateReport.model_validate_json(judged.model_dump_json()) == judged


@pytest.mark.parametrize(
    "red",
    [
        report("a", "new"),
        report(),
        report("a", findings=(Finding("boom", "pytest", "a"), Finding("SyntaxError in conftest"))),
        report("a", counts=TestCounts(run=5, passed=3, failed=2)),
        report("a", findings=(Finding("boom", "rspec", "another title"),)),
        report("a").model_copy(update={"commands": report("a").commands * 2}),
    ],
    ids=[
        "another test",
        "no names",
        "a nameless failure",
        "an uncounted one",
        "a strange name",
        "two commands",
    ],
)
def test_any_other_failure_stays_red(red):
    assert judge(red, {"a"}) == red


@pytest.mark.parametrize("verdict", [Verdict.TIMED_OUT, Verdict.COULD_NOT_RUN, Verdict.PASSED])
def test_only_a_red_gate_is_judged(verdict):
    given_report = report("a", verdict=verdict)
    assert judge(given_report, {"a"}) == given_report


def test_a_runner_that_titles_its_findings_otherwise_is_believed_by_its_count():
    titled = report(
        "./spec/a_spec.rb:4", findings=(Finding("boom", "rspec", "Cart sums"),), counts=TestCounts(9, 8, 1)
    )
    assert judge(titled, {"./spec/a_spec.rb:4"}).passed


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))
def test_the_verdict_is_green_exactly_when_every_failing_test_is_quarantined(failing, known):
    assert judge(report(*sorted(failing)), known).passed == (bool(failing) and failing <= known)


def test_entries_expire(tmp_path):
    add(tmp_path, "repo", ["a"], SEEN, NOW)
    assert quarantined(tmp_path, "repo", NOW + EXPIRY - timedelta(seconds=1)) == {"a"}
    assert quarantined(tmp_path, "repo", NOW + EXPIRY) == frozenset()


def test_expired_entries_are_dropped_by_the_next_writer(tmp_path):
    add(tmp_path, "repo", ["old"], SEEN, NOW)
    add(tmp_path, "repo", ["new"], SEEN, NOW + EXPIRY)
    assert "old" not in (tmp_path / "quarantine" / "repo.json").read_text()


def test_new_evidence_prolongs_the_quarantine_and_keeps_its_beginning(tmp_path):
    later = Evidence(run="r2", tree="def", outcomes=("passed", "failed"))
    add(tmp_path, "repo", ["a"], SEEN, NOW)
    add(tmp_path, "repo", ["a"], later, NOW + timedelta(days=1))
    add(tmp_path, "repo", ["a"], later, NOW + timedelta(days=1))
    (entry,) = entries(tmp_path, "repo", NOW + timedelta(days=1))
    assert (entry.since, entry.until) == (NOW, NOW + timedelta(days=1) + EXPIRY)
    assert entry.evidence == (SEEN, later)


def test_repositories_do_not_share_their_quarantine(tmp_path):
    add(tmp_path, "one", ["a"], SEEN, NOW)
    assert quarantined(tmp_path, "other", NOW) == frozenset()


def test_one_outcome_is_no_proof(tmp_path):
    with pytest.raises(InputError, match="not flaky"):
        add(tmp_path, "repo", ["a"], SEEN.model_copy(update={"outcomes": ("failed", "failed")}), NOW)
    assert quarantined(tmp_path, "repo", NOW) == frozenset()


def test_a_damaged_store_is_said_not_overwritten(tmp_path):
    path = tmp_path / "quarantine" / "repo.json"
    path.parent.mkdir()
    path.write_text('[{"test": "a"}]')
    with pytest.raises(InputError, match="damaged"):
        add(tmp_path, "repo", ["b"], SEEN, NOW)
    assert path.read_text() == '[{"test": "a"}]'


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from buildloop.recovery.quarantine import Evidence, add
for number in range(20):
    seen = Evidence(run="r", tree="t", outcomes=("failed", "passed"))
    add(Path(sys.argv[1]), "repo", [f"{sys.argv[2]}-{number}"], seen, datetime(2026, 3, 1, tzinfo=UTC))
"""


def test_no_entry_is_lost_between_two_writers(tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], cwd=ROOT)
        for name in ("x", "y", "z")
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert quarantined(tmp_path, "repo", NOW) == {f"{name}-{n}" for name in "xyz" for n in range(20)}
