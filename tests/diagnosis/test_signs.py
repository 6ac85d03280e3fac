"""Laws of the tables of signs, not their rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.diagnosis.model import SignalKind
from buildloop.diagnosis.signals import FAMILIES, scan
from buildloop.diagnosis.signs.lines import plain, statements
from buildloop.literals import required_literals
from tests.support.growth import grows_linearly

SIGNS = [sign for family in FAMILIES for sign in family.SIGNS]


@pytest.mark.parametrize("sign", SIGNS, ids=lambda sign: sign.pattern.pattern[:40])
def test_every_sign_compiles_and_names_what_is_missing(sign):
    groups = sign.pattern.compiled.groupindex
    assert ("subject" in groups) == (sign.kind is SignalKind.MISSING)


@pytest.mark.parametrize("sign", SIGNS, ids=lambda sign: sign.pattern.pattern[:40])
def test_every_sign_can_be_looked_up(sign):
    literals = sign.pattern.literals
    assert literals
    assert all(literals)


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"(?:a|b)?No module named ['\"]?\w+", ("No module named ",)),
        (r"\S+: (?:foo bar|git )", ("foo bar", "git ")),
        (r"[^]x]foo\.bar(?:q)*zed", ("foo.bar",)),
        (r"(?:A potential l|L)oop (?:was )?detected\b", ("detected",)),
        (r"colou?r", ("colo",)),
        (r"(?i:any case) here", (" here",)),
    ],
)
def test_literals_are_read_off_a_pattern(pattern, literals):
    assert required_literals(pattern) == literals


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
