"""JUnit XML of several writers, merged with the log, and safe to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildloop.diagnosis.model import Finding, LogReading, TestCounts
from buildloop.gate.junit import UnsafeXmlError, merge, outcomes, read_junit, read_junit_bytes

PYTEST = b"""<?xml version="1.0" encoding="utf-8"?><testsuites>
<testsuite name="pytest" errors="0" failures="1" skipped="1" tests="3">
<testcase classname="tests.test_cart.TestCart" file="tests/test_cart.py" line="9" name="test_total">
<failure message="AssertionError: assert 2 == 6">self = &lt;x&gt;
&gt;       assert total() == 6
E       assert 2 == 6

tests/test_cart.py:12: AssertionError</failure></testcase>
<testcase classname="tests.test_cart" name="test_ok" time="0.0"/>
<testcase classname="tests.test_cart" name="test_later"><skipped message="no"/></testcase>
</testsuite></testsuites>"""

SUREFIRE = b"""<testsuite name="com.acme.AccountTest" tests="1" failures="0" errors="1">
<testcase name="noOverdraft" classname="com.acme.AccountTest" time="0.1">
<error message="a is null" type="java.lang.NullPointerException">java.lang.NullPointerException: a is null
\tat org.junit.Assert.fail(Assert.java:10)
\tat com.acme.AccountTest.noOverdraft(AccountTest.java:11)
</error></testcase></testsuite>"""


def test_pytest_report():
    reading = read_junit_bytes(PYTEST)
    [finding] = reading.findings
    assert reading.counts == TestCounts(run=2, passed=1, failed=1, skipped=1)
    assert reading.failing == ("tests/test_cart.py::TestCart::test_total",)
    assert finding.location == "tests/test_cart.py:12"
    assert reading.error_lines[0] == "AssertionError: assert 2 == 6"


def test_surefire_report():
    reading = read_junit_bytes(SUREFIRE)
    [finding] = reading.findings
    assert finding.test == "com.acme.AccountTest.noOverdraft"
    assert (finding.type, finding.line) == ("java.lang.NullPointerException", 11)


def test_report_without_text_still_names_the_test():
    reading = read_junit_bytes(
        b'<testsuite><testcase name="a b" classname="x"><failure/></testcase></testsuite>'
    )
    assert reading.failing == ("x.a b",)


BOMB = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<testsuite><testcase name="&b;"/></testsuite>"""
THIEF = (
    b"""<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&e;"/></testsuite>"""
)


@pytest.mark.parametrize("document", [BOMB, THIEF])
def test_a_document_type_is_refused(document: bytes):
    with pytest.raises(UnsafeXmlError):
        read_junit_bytes(document)


def test_unreadable_reports_are_passed_over(tmp_path: Path):
    good, torn, bomb = tmp_path / "a.xml", tmp_path / "b.xml", tmp_path / "c.xml"
    good.write_bytes(PYTEST)
    torn.write_bytes(PYTEST[:200])
    bomb.write_bytes(BOMB)
    reading = read_junit([good, torn, bomb, tmp_path / "missing.xml"])
    assert reading is not None
    assert len(reading.findings) == 1
    assert read_junit([torn]) is None


def test_merge_takes_tests_from_the_report_and_the_rest_from_the_log():
    log = LogReading(
        findings=(Finding("type error", "mypy", file="a.py", line=3), Finding("old", "pytest", test="gone")),
        error_lines=("a.py:3: error: type error",),
        tools=("mypy",),
    )
    merged = merge(log, read_junit_bytes(PYTEST))
    assert [f.test for f in merged.findings] == ["tests/test_cart.py::TestCart::test_total", None]
    assert merged.counts == TestCounts(run=2, passed=1, failed=1, skipped=1)
    assert merged.error_lines == log.error_lines
    assert merged.tools == ("mypy", "junit")


def test_merge_without_a_report_is_the_log():
    log = LogReading(error_lines=("x",))
    assert merge(log, None) is log


def test_a_pytest_report_without_files_takes_the_ids_that_can_be_run_from_the_log():
    """pytest's default family of reports joins file, class and test with dots."""
    bare = PYTEST.replace(b' file="tests/test_cart.py" line="9"', b"").replace(
        b'"test_total"', b'"test_total[a::b]"'
    )
    told = Finding("assert 2 == 6", "pytest", "tests/test_cart.py::TestCart::test_total[a::b]", line=12)
    merged = merge(LogReading(findings=(told,), failing=(told.test or "",)), read_junit_bytes(bare))
    assert merged.failing == ("tests/test_cart.py::TestCart::test_total[a::b]",)
    assert merged.findings == (told,)


def test_a_module_that_could_not_be_loaded_is_no_test_that_ran(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuite><testcase classname="" name="test_x"><error message="collection failure">E</error></testcase>'
        '<testcase classname="test_y" name="test_one"/></testsuite>'
    )
    assert list(outcomes([report]).values()) == ["passed"]
