"""Pitfalls 27 to 29: what the old loop threw away, missed or defined twice when it read a log."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from buildloop.diagnosis.actionability import score_error_line
from buildloop.diagnosis.categories import error_class
from buildloop.diagnosis.model import ErrorClass
from buildloop.gate.read import read_text

GO = """\
=== RUN   TestAdd
    a_test.go:3: Add(1,1) = 2; want 3
--- FAIL: TestAdd (0.00s)
FAIL
FAIL\texample.com/a\t0.002s
FAIL
"""
CARGO = """\
   Compiling demo v0.1.0
error[E0382]: borrow of moved value: `s`
 --> src/main.rs:4:23
  |
4 |     println!("{}", s);
  |                    ^ value borrowed here after move

For more information about this error, try `rustc --explain E0382`.
error: could not compile `demo` (bin "demo") due to 1 previous error
"""
NODE = """\
TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  location: '/app/add.test.js:4:1'
  failureType: 'testCodeFailure'
  error: |-
    Expected values to be strictly equal:

    2 !== 3

  code: 'ERR_ASSERTION'
  expected: 3
  actual: 2
  operator: 'strictEqual'
  ...
# Subtest: handles errors
ok 2 - handles errors
1..2
# tests 2
# pass 1
# fail 1
"""
PYTEST = """\
=================================== FAILURES ===================================
___________________________________ test_add ___________________________________

    def test_add():
>       assert add(1, 1) == 3
E       assert 2 == 3
E        +  where 2 = add(1, 1)

tests/test_calc.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_calc.py::test_add - assert 2 == 3
========================= 1 failed, 12 passed in 0.02s =========================
"""


@pytest.mark.parametrize(
    ("log", "wanted"),
    [
        (GO, "a_test.go:3: Add(1,1) = 2; want 3"),
        (CARGO, "--> src/main.rs:4:23"),
        (NODE, "expected: 3"),
        (NODE, "actual: 2"),
        (PYTEST, "tests/test_calc.py:5"),
        (PYTEST, "assert 2 == 3"),
    ],
)
def test_27_the_line_that_matters_is_kept(log, wanted):
    assert any(wanted in line for line in read_text(log, 1).error_lines)


@pytest.mark.parametrize(
    ("log", "unwanted"),
    [(NODE, "ok 2 - handles errors"), (CARGO, "For more information"), (PYTEST, "12 passed")],
)
def test_27_what_says_nothing_is_not(log, unwanted):
    assert not any(
        unwanted in line for line in read_text(log, 1).error_lines if not line.startswith("not ok")
    )


def test_28_the_seeds_own_example_reaches_its_target():
    assert score_error_line("TypeError: Cannot read property 'x' of undefined at src/app.ts:42") > 70


@pytest.mark.parametrize(
    "line",
    [
        "error[E0382]: borrow of moved value: `s`",
        "Permission denied (os error 13)",
        "main_test.go:17: got 3, want 4",
    ],
)
def test_28_other_languages_state_facts_too(line):
    assert score_error_line(line) > 0


def test_28_a_harmless_line_with_address_and_time_scores_less_than_an_error():
    harmless = "GET http://localhost:8080/index.html 200 in 12:03:04"
    assert score_error_line(harmless) < score_error_line("main_test.go:17: got 3, want 4")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", ErrorClass.MEMORY_ERROR),
        ("SyntaxError: invalid syntax", ErrorClass.SYNTAX_ERROR),
    ],
)
def test_28_named_errors_are_not_unknown(line, wanted):
    assert error_class(line) is wanted


def test_29_one_taxonomy_in_one_module():
    root = Path(__file__).parents[2] / "buildloop"
    trees = [
        ast.parse(path.read_text(encoding="utf-8"))
        for path in root.rglob("*.py")
        if "sample" not in path.parts
    ]
    names = [node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert names.count("categorize_error") == 1
    assert names.count("error_class") == 1
