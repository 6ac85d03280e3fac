"""Whatever the bytes are: no exception, linear time, no heavy import."""

from __future__ import annotations

import sys
from subprocess import run

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.gate.clean import MAX_LINE
from buildloop.gate.parsers import PARSERS
from buildloop.gate.read import read_log, read_text
from tests.support.growth import FACTOR, grows_linearly


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


def _read(text: str) -> None:
    read_text(text, 1)


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_no_faster_than_a_line(unit: str):
    assert grows_linearly(
        _read,
        lambda size: "\n".join((opening + unit * size)[:size] for opening in OPENINGS),
        MAX_LINE // FACTOR,
    )


def test_time_grows_no_faster_than_the_number_of_lines():
    lines = [opening + unit * 10 for opening in OPENINGS for unit in UNITS]
    assert grows_linearly(_read, lambda times: "\n".join(lines * times), 4)


@pytest.mark.parametrize("unit", ["a/", "\x1b["])
def test_one_line_of_a_megabyte_costs_no_more_than_the_part_that_is_read(unit: str):
    assert grows_linearly(_read, lambda size: ("error: " + unit * size)[:size], 125_000)


def test_importing_the_reader_brings_no_heavy_package():
    code = (
        "import sys, buildloop.gate.read; print([m for m in ('pydantic', 'rich', 'typer', 'prefect') if m "
        "in sys.modules])"
    )
    assert (
        run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
