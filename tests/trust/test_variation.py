"""Inputs of the tests that are written into the product, and what is no such thing."""

from __future__ import annotations

import pytest

from buildloop.workspace.integrity.counter.variation import told, varied
from buildloop.workspace.integrity.model import Change

TESTS = told(
    [
        "assert show(65) == '1:05'\nassert parse('1h30m') == 5400\nassert name('Ada Lovelace') == 'A. L.'\n"
        "assert roman(4) == 'IV'\nassert fact(5) == 120\nassert plural('mouse') == 'mice'\n"
    ]
)


def exchanged(line, name="product.py", before=""):
    changes = [Change("M", name, name, before, f"{before}{line}\n")]
    return [value for one in varied(changes, lambda: TESTS) for value in one.values]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("if total == 65: return '1:05'", ["65"]),
        ("if n == 5: return 120", ["5"]),
        ("KNOWN = {'1h30m': 5400}", ["1h30m"]),
        ("if text in ('1h30m', '2h45m'):", ["1h30m", "2h45m"]),
        ("seen = frozenset(['1h30m', 65, '2h45m'])", ["1h30m", "65", "2h45m"]),
        ("case ('Ada Lovelace', 65):", ["Ada Lovelace", "65"]),
    ],
)
def test_a_comparison_with_a_tests_input(line, values):
    assert exchanged(line) == values


@pytest.mark.parametrize(
    "line",
    [
        "if total > 65: return limit",  # a limit
        "if n % 65 == 0: return total",  # a property
        "if n == 0: return 1",  # a base case
        "if word == 'mouse': return 'mice'",  # a word of the language
        "if len(parts) == 5: return parts",
        "return total * 65",
    ],
)
def test_rules_are_left_alone(line):
    assert exchanged(line) == []


def test_texts_that_the_product_had_before_are_its_own():
    line = "if text == '1h30m': return 5400"
    assert exchanged(line, before="USUAL = '1h30m'\n") == []
    assert exchanged(line, before='"""Reads 1h30m as seconds."""\n') == ["1h30m"]


def test_other_languages():
    assert exchanged("    case 65: return '1:05';", "clock.js") == ["65"]
    assert exchanged("const known = new Map([[65, '1:05']]);", "clock.js") == ["65"]
    assert exchanged('        "Ada Lovelace" => "A. L.".to_string(),', "src/lib.rs") == ["Ada Lovelace"]
    assert exchanged('if [ "$1" = 1h30m ]; then echo 5400; fi', "bin/parse.sh") == ["1h30m"]
