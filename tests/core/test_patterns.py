"""Expressions that wait until they are asked, and the texts that tell whether they need to be."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.diagnosis.signals import SIGNS
from buildloop.literals import required_literals
from buildloop.patterns import Regex, possible, regexes


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"(?:a|b)?No module named ['\"]?\w+", ("No module named ",)),
        (r"\S+: (?:foo bar|git )", ("foo bar", "git ")),
        (r"[^]x]foo\.bar(?:q)*zed", ("foo.bar",)),
        (r"(?:A potential l|L)oop (?:was )?detected\b", ("detected",)),
        (r"colou?r", ("colo",)),
        (r"(?i:any case) here", (" here",)),
        (r"one thing|another", ("one thing", "another")),
        (r"one thing|\d+", ()),
        (r"\x1b\[31mred", ("[31mred",)),
        (r"ab(?!not this)+?c{2}d", ("ab",)),
        (r"(a(b(?:long word|longer word)))\.*?", ("long word", "longer word")),
    ],
)
def test_literals_are_read_off_a_pattern(pattern, literals):
    assert required_literals(pattern) == literals


@given(st.data())
def test_whatever_a_pattern_matches_holds_one_of_its_literals(data: st.DataObject):
    pattern = data.draw(st.sampled_from(SIGNS)).pattern
    assert pattern.may_match(data.draw(st.from_regex(pattern.compiled)))


def test_an_expression_is_compiled_when_first_asked():
    expression = Regex(r"a(?P<n>\d)", re.IGNORECASE)
    assert "compiled" not in vars(expression)
    assert expression.sub("b", "A1 a2") == "b b"
    assert [found["n"] for found in expression.finditer("A1 a2")] == ["1", "2"]
    assert expression.fullmatch("a1")
    assert not expression.match(" a1")


def test_without_regard_to_case_nothing_is_certain():
    assert Regex("certainly", re.IGNORECASE).may_match("CERTAINLY")
    assert not Regex("certainly").may_match("CERTAINLY")


def test_a_table_is_reduced_to_what_a_text_can_match():
    table = regexes(r"No module named \w+", r"\d+", r"(?:Cannot find|Can't resolve) ")
    assert possible(table, "Can't resolve 'x'") == table[1:]
