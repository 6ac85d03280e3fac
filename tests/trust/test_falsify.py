"""When a second agent's test refutes finished work."""

from __future__ import annotations

import pytest

from buildloop import falsify
from buildloop.diagnosis.model import Finding, LogReading
from buildloop.falsify import judged, refuted
from buildloop.models import GateReport, RefutingTest, Verdict

TEST = RefutingTest(path="tests/test_more.py", text="")
GREEN = GateReport(verdict=Verdict.PASSED, tree="t", commands=())


def red(*findings):
    return GREEN.model_copy(
        update={"verdict": Verdict.FAILED, "reading": LogReading(findings=tuple(findings))}
    )


WRONG = Finding(message="AssertionError: 3 != 4", test="test_sum")
OTHER = Finding(message="AssertionError: late", test="test_clock")
BROKEN = Finding(message="ImportError: cannot import name 'x' from 'calc'", test="test_x")


@pytest.mark.parametrize(
    ("reports", "stands"),
    [
        ([red(WRONG), red(WRONG)], True),
        ([red(WRONG, OTHER), red(WRONG)], True),
        ([red(WRONG), GREEN], False),
        ([red(WRONG), red(OTHER)], False),
        ([red(BROKEN), red(BROKEN)], False),
        ([GREEN], False),
    ],
)
def test_it_must_fail_twice_by_its_answer(reports, stands):
    found = judged("claude", [TEST], reports)
    assert found.refuted is stands
    assert refuted(GREEN, found).passed is not stands
    assert bool(found.why) is not stands


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("tests/test_a.py", "from calc import add\n\n\ndef test_a():\n    assert add(1, 2) == 4\n", True),
        ("tests/test_a.py", "def test_a():\n    assert False\n", False),
        ("tests/conftest.py", "import calc\n\ncalc.add = None\n", False),
        ("calc.py", "def add(a, b):\n    return 0\n", False),
        (
            "calc_test.go",
            "package calc\n\nfunc TestA(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n",
            True,
        ),
        ("test/a.test.js", "test('a', () => {\n  expect(add(1, 2)).toBe(4);\n});\n", True),
    ],
)
def test_only_tests_that_ask_the_code_are_taken(name, text, counts):
    assert bool(falsify.tests_among({name: text})) is counts
