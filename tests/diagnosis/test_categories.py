"""Two taxonomies, each decided in one place, by facts before words."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.categories import (
    FAMILY_OF,
    TEN,
    categorize_error,
    category_of,
    class_of,
    error_class,
)
from buildloop.diagnosis.kinds import WORDS, Kind
from buildloop.diagnosis.model import Category, ErrorClass, Finding, LogReading
from buildloop.gate.read import read_text


@pytest.mark.parametrize(
    ("line", "category"),
    [
        ("SyntaxError: invalid syntax", Category.SYNTAX),
        ("a.js: Unexpected token (3:14)", Category.SYNTAX),
        ("TypeError: Cannot read properties of undefined (reading 'x')", Category.RUNTIME),
        ("KeyError: 'timeout'", Category.RUNTIME),
        ("AssertionError: 1 != 2", Category.ASSERTION),
        ("expected 401 to equal 200", Category.ASSERTION),
        ("ModuleNotFoundError: No module named 'numpy'", Category.DEPENDENCY),
        ("npm ERR! code ERESOLVE", Category.DEPENDENCY),
        ("src/a.ts(1,2): error TS2322: Type 'a' is not assignable to type 'b'.", Category.BUILD),
        ("error[E0382]: borrow of moved value: `s`", Category.BUILD),
        ("FAIL something broke", Category.UNKNOWN),
    ],
)
def test_six_categories_of_a_line(line: str, category: Category):
    assert categorize_error(line) is category


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("cat: a.txt: No such file or directory", ErrorClass.FILE_ACCESS),
        ("./run.sh: Permission denied", ErrorClass.FILE_ACCESS),
        ("TypeError: c.clear is not a function", ErrorClass.FUNCTION_ERROR),
        ("NameError: name 'x' is not defined", ErrorClass.FUNCTION_ERROR),
        ("SyntaxError: Unexpected token ';'", ErrorClass.SYNTAX_ERROR),
        ("AssertionError: 1 != 2", ErrorClass.ASSERTION_FAILURE),
        ("TypeError: unsupported operand type(s) for +: 'int' and 'str'", ErrorClass.TYPE_ERROR),
        ("Error: Timeout of 2000ms exceeded.", ErrorClass.TIMEOUT),
        ("java.lang.OutOfMemoryError: Java heap space", ErrorClass.MEMORY_ERROR),
        ("Segmentation fault (core dumped)", ErrorClass.MEMORY_ERROR),
        ("connect ECONNREFUSED 127.0.0.1:5432", ErrorClass.NETWORK_ERROR),
        ("write failed: No space left on device", ErrorClass.RESOURCE_ERROR),
        ("something else entirely", ErrorClass.UNKNOWN),
    ],
)
def test_ten_classes_of_a_line(line: str, error: ErrorClass):
    assert error_class(line) is error


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "closing brace expected nowhere trace_id=4",
        "AuthContext.Provider",
    ],
)
def test_words_inside_words_mean_nothing(line: str):
    assert error_class(line) in (ErrorClass.UNKNOWN, ErrorClass.SYNTAX_ERROR)
    assert categorize_error(line) in (Category.UNKNOWN, Category.SYNTAX)


def test_an_assertion_about_a_timeout_is_an_assertion():
    reading = read_text(
        "=== FAILURES ===\n___ test_t ___\n>   assert kind('timeout') == 'no such file'\n"
        "E   AssertionError: assert 'ImportError: timed out' == 'no such file'\n\ntest_t.py:3: "
        "AssertionError\n",
        1,
    )
    assert (category_of(reading), class_of(reading)) == (Category.ASSERTION, ErrorClass.ASSERTION_FAILURE)


@pytest.mark.parametrize(
    ("tool", "kind", "message", "category", "error"),
    [
        ("pytest", "NoTests", "no tests ran", Category.UNKNOWN, ErrorClass.UNKNOWN),
        ("claude", "ContextOverflow", "Prompt is too long", Category.RUNTIME, ErrorClass.RESOURCE_ERROR),
        ("go test", "race", "data race", Category.RUNTIME, ErrorClass.UNKNOWN),
        ("shell", "CommandNotFound", "jest: not found", Category.DEPENDENCY, ErrorClass.FUNCTION_ERROR),
        ("ld", "linker", "undefined reference to `add'", Category.BUILD, ErrorClass.FUNCTION_ERROR),
        ("npm", "EJSONPARSE", "Invalid package.json", Category.SYNTAX, ErrorClass.SYNTAX_ERROR),
        ("npm", "npm", 'Missing script: "test"', Category.BUILD, ErrorClass.UNKNOWN),
        ("tsc", "TS2307", "Cannot find module './db'", Category.BUILD, ErrorClass.FILE_ACCESS),
        ("tsc", "TS2307", "Cannot find module 'express'", Category.DEPENDENCY, ErrorClass.FILE_ACCESS),
        ("node", "Error", "Cannot find module '../lib/x'", Category.RUNTIME, ErrorClass.FILE_ACCESS),
        ("eslint", "no-unused-vars", "'a' is never used", Category.BUILD, ErrorClass.UNKNOWN),
    ],
)
def test_the_tool_and_the_type_decide(
    tool: str, kind: str, message: str, category: Category, error: ErrorClass
):
    reading = LogReading(findings=(Finding(message, tool, type=kind, lines=(message,)),))
    expected = Category.UNKNOWN if tool == "claude" else category
    assert (category_of(reading), class_of(reading)) == (expected, error)


def test_an_empty_reading_is_unknown():
    assert (category_of(LogReading()), class_of(LogReading())) == (Category.UNKNOWN, ErrorClass.UNKNOWN)


def test_no_line_raises_and_every_table_is_complete():
    for line in ("", " ", "\x00", "x" * 100_000, "((((", "Error" * 1000):
        assert categorize_error(line) in Category
        assert error_class(line) in ErrorClass
    assert set(WORDS) | {Kind.RACE, Kind.NO_TESTS, Kind.AGENT, Kind.OTHER} == set(Kind)
    assert set(TEN) <= set(Kind)
    assert FAMILY_OF


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("No module named 'requests'", False),
        ("No module named 'shop.testing'", True),
        ("Cannot find module './utlis'", True),
        ("Cannot find module '@prisma/client' from 'src/db.js'", False),
        ("error[E0432]: unresolved import `crate::foo`", True),
        ("error[E0432]: unresolved import `serde`", False),
        ("cannot load such file -- /srv/lib/rates", True),
        ("No module named 'helpers'", True),
    ],
)
def test_only_what_is_not_the_projects_own_is_a_dependency(text: str, own: bool):
    reading = LogReading(findings=(Finding(text, file="shop/cart.py", lines=(text,)),))
    assert (category_of(reading) is not Category.DEPENDENCY) is own


def test_what_the_caller_knows_to_be_the_projects_own_is_no_dependency():
    reading = LogReading(findings=(Finding("No module named 'till'"),))
    assert category_of(reading) is Category.DEPENDENCY
    assert category_of(reading, frozenset({"till"})) is not Category.DEPENDENCY
