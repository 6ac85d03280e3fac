"""Laws of the tables of signs, not their rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.diagnosis.model import SignalKind
from buildloop.diagnosis.signals import SIGNS, scan
from buildloop.diagnosis.signs.lines import plain, statements
from tests.support.growth import grows_linearly


def test_every_sign_compiles_and_names_what_is_missing():
    """All in one test: a table is one thing, and hundreds of tests cost more than what they check."""
    wrong = [
        sign.pattern.pattern
        for sign in SIGNS
        if ("subject" in sign.pattern.compiled.groupindex) != (sign.kind is SignalKind.MISSING)
    ]
    assert wrong == []


def test_every_sign_can_be_looked_up():
    assert [sign.pattern.pattern for sign in SIGNS if not all(sign.pattern.literals or [""])] == []


@pytest.mark.parametrize(
    ("line", "statement"),
    [
        ("E   ModuleNotFoundError: No module", "ModuleNotFoundError: No module"),
        ("[ERROR] /w/src/A.java:[3,22] package a does not exist", "package a does not exist"),
        ("# Error:  Can't locate A.pm", "Can't locate A.pm"),
        ("2024-01-02T03:04:05.678Z ##[error]npm error code E404", "npm error code E404"),
        ("\x1b[31merror\x1b[0m: no such thing", "no such thing"),
        ("    ╰─> error: no such thing", "no such thing"),
    ],
)
def test_a_statement_is_found_behind_its_lead_ins(line, statement):
    assert statement in statements(plain(line))


@given(st.lists(st.text(max_size=80), max_size=30))
def test_any_text_can_be_scanned(lines):
    assert all(signal.line for signal in scan(lines).signals)


@given(st.lists(st.sampled_from([sign.pattern.pattern for sign in SIGNS]), max_size=5))
def test_the_tables_own_text_can_be_scanned(lines):
    assert all(signal.line for signal in scan(lines).signals)


@pytest.mark.parametrize(
    "unit",
    [
        "error: ",
        "/a",
        "# ",
        "a: ",
        "E  ",
        "a.py:1: ",
        "[",
        "{",
        '{"a":',
        "a b ",
        "ld: ",
        "| ",
        "x@y: ",
        "a",
        "a.",
        "a/",
    ],
)
def test_a_long_line_takes_linear_time(unit):
    tail = " cannot find module 'a' not found required error"

    def work(long: str) -> None:
        scan([long + tail, long, "E   ModuleNotFoundError: No module named 'a'", long])

    assert grows_linearly(work, lambda size: (unit * size)[:size], 4_000)
