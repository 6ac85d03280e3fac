"""Whatever the bytes are: no exception, linear time, no heavy import."""

from __future__ import annotations

import sys
from subprocess import run
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buildloop.gate.clean import MAX_LINE
from buildloop.gate.parsers import PARSERS
from buildloop.gate.read import read_log, read_text


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=3000), exit_code=st.sampled_from([None, 0, 1, 137]))
def test_arbitrary_bytes_never_raise(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, exit_code: int | None
):
    path = tmp_path_factory.getbasetemp() / "bytes.log"
    path.write_bytes(data)
    reading = read_log(path, exit_code)
    assert len(reading.error_lines) <= 20


FRAGMENTS = [trigger for entry in PARSERS for trigger in entry.triggers] + [
    *("\n", "    at f (a.js:1:2)", "E   ", "___ t ___", "=== FAILURES ===", "---", "...", "1) x"),
    *("#", 'File "a", line 1', "\t", "│", "- ", "+ ", "at ", "left: 1", "Expected: 2"),
]


@settings(max_examples=200, deadline=None)
@given(parts=st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=60))
def test_the_words_of_all_tools_in_any_order_never_raise(parts: list[str]):
    reading = read_text("".join(parts), 1)
    assert all(isinstance(line, str) for line in reading.error_lines)


UNITS = [
    "a",
    " ",
    "/",
    "(",
    "..",
    "- ",
    "E ",
    "a/",
    "a.b:",
    "1:",
    "a.py:1:",
    "\x1b[",
    "# ",
    'File "',
    " at a.t line 1",
]
OPENINGS = ["", "error: ", "    at ", "[ERROR] ", "E   ", "FAILED "]


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_no_faster_than_the_input(unit: str):
    """Four times the input may take four times as long; double that, for a busy machine, and no more."""
    small, large = (_seconds(_hostile(unit, count)) for count in (2, 8))
    assert large <= 8 * small + 0.1


def test_one_line_of_a_megabyte_costs_no_more_than_the_part_that_is_read():
    for unit in UNITS:
        assert (
            _seconds("error: " + unit * (1_000_000 // len(unit)))
            < 20 * _seconds("error: " + unit * 5000) + 0.5
        )


def _hostile(unit: str, count: int) -> str:
    return "\n".join((opening + unit * MAX_LINE)[:MAX_LINE] for opening in OPENINGS for _ in range(count))


def _seconds(text: str) -> float:
    def once() -> float:
        started = process_time()
        read_text(text, 1)
        return process_time() - started

    return min(once() for _ in range(2))


def test_importing_the_reader_brings_no_heavy_package():
    code = (
        "import sys, buildloop.gate.read; print([m for m in ('pydantic', 'rich', 'typer', 'prefect') if m "
        "in sys.modules])"
    )
    assert (
        run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
