"""What the fuzzer generates: any text and JSON, documents nearly right, logs in the words of every tool."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from hypothesis import strategies as st

from buildloop.gate.parsers import PARSERS, ParserEntry
from buildloop.patterns import Regex

# Beside ordinary characters: lone surrogates, control codes, other digits, and what ends a line for some readers only.
ODD = "\x00\x07\x1b\r\x0b\x0c\x1c\x85\u2028\u202e\ud800\udcff\ufeff٣²𝟙💥`'\"\\{}[]<>&|#-:=%$"
TEXT = st.text(max_size=40) | st.text(st.sampled_from(ODD + "a1 \n"), max_size=40)
LONG = st.builds(lambda unit, times: unit * times, st.text(min_size=1, max_size=3), st.integers(1, 6000))
NUMBERS = st.sampled_from(
    [0, -1, 1, 2**31, 2**63, 10**400, -(10**30), 0.5, 1e308, float("inf"), float("nan")]
)
SCALARS = st.none() | st.booleans() | NUMBERS | st.integers() | TEXT
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
DEEP = st.builds(
    lambda opened, depth: opened * depth, st.sampled_from(["[", '{"a":', '{"type":[']), st.integers(1, 3000)
)
DIGITS = st.builds(lambda digits: "9" * digits, st.integers(1, 6000))
EXIT_CODES = st.sampled_from([None, 0, 1, 2, 101, 127, 137])


def near(*documents: Any) -> st.SearchStrategy[str]:
    """JSON texts that nearly are one of these documents: a value replaced, dropped or added, the end cut off."""
    whole = st.sampled_from(documents).flatmap(_one_change).map(json.dumps)
    return whole | st.builds(_cut, whole, st.floats(0, 1)) | st.builds(_insert, whole, st.floats(0, 1), TEXT)


def lines_of(*documents: Any) -> st.SearchStrategy[str]:
    """A file of JSON lines: near ones, whole ones, nonsense and blank ones."""
    line = near(*documents) | st.sampled_from([json.dumps(one) for one in documents])
    return st.lists(line | TEXT | DEEP, max_size=6).map("\n".join)


def _one_change(document: Any) -> st.SearchStrategy[Any]:
    places = list(_places(document))
    return st.builds(
        lambda place, value, drop: _changed(document, place, value, drop=drop),
        st.sampled_from(places),
        JSON,
        st.booleans(),
    )


def _places(document: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(document, dict):
        inside = document.items()
    elif isinstance(document, list):
        inside = enumerate(document)
    else:
        return [path]
    return [path, *(place for key, value in inside for place in _places(value, (*path, key)))]


def _changed(document: Any, place: Sequence[str | int], value: Any, *, drop: bool) -> Any:
    if not place:
        return value
    first, *rest = place
    copy = dict(document) if isinstance(document, dict) else list(document)
    if rest:
        copy[first] = _changed(copy[first], rest, value, drop=drop)
    elif drop:
        del copy[first]
    else:
        copy[first] = value
    return copy


def _cut(text: str, share: float) -> str:
    return text[: int(len(text) * share)]


def _insert(text: str, share: float, added: str) -> str:
    at = int(len(text) * share)
    return text[:at] + added + text[at:]


def as_bytes(text: str) -> bytes:
    """Text that was never valid UTF-8 stays so."""
    return text.encode("utf-8", "surrogatepass")


GLUE = [
    *("\n", "    at f (a.js:1:2)", "E   ", "___ t ___", "=== FAILURES ===", "---", "...", "1) x", "\x1b[31m"),
    *(
        "#",
        'File "a", line 1',
        "\t",
        "│",
        "- ",
        "+ ",
        "at ",
        "left: 1",
        "Expected: 2",
        "2026-11-16T09:00:00Z ",
    ),
]


def patterns_of(module: ModuleType) -> list[re.Pattern[str]]:
    """Every expression a module holds, also in its tables."""
    found: list[re.Pattern[str]] = []

    def collect(value: object) -> None:
        if isinstance(value, Regex):
            found.append(value.compiled)
        elif isinstance(value, re.Pattern):
            found.append(value)
        elif isinstance(value, list | tuple):
            for inner in value:
                collect(inner)

    for value in vars(module).values():
        collect(value)
    return found


@cache
def lines_for(entry: ParserEntry) -> st.SearchStrategy[str]:
    """Lines that one parser has expressions for, and pieces of such lines."""
    patterns = patterns_of(import_module(f"buildloop.gate.parsers.{entry.module}"))
    matching = [st.from_regex(pattern) for pattern in patterns if isinstance(pattern.pattern, str)]
    pieces = st.sampled_from([*entry.triggers, *GLUE])
    return st.one_of([pieces, *matching, TEXT, DIGITS])


LOGS = st.sampled_from(PARSERS).flatmap(
    lambda entry: st.lists(lines_for(entry) | lines_for(PARSERS[-1]), max_size=12).map("\n".join)
)
