"""The same failure keeps its fingerprint under noise; another failure gets another one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.diagnosis.fingerprint import fingerprint, fingerprint_reading, same_failure
from buildloop.diagnosis.masks import MASKS, normalise
from buildloop.diagnosis.model import Finding, LogReading
from tests.support.growth import grows_linearly

DIGITS = st.integers(min_value=1, max_value=99_999)
HEX = st.text("0123456789abcdef", min_size=8, max_size=40).filter(
    lambda t: re.search("[a-f]", t) and re.search(r"\d", t)
)
FOLDER = st.text("abcdefghij", min_size=3, max_size=8)
WORKER = st.integers(min_value=0, max_value=64)

# Each kind of noise: a line with a hole, and what may stand in it.
NOISE = {
    "line number": ("src/cart.py:{}: AssertionError: no total", DIGITS),
    "line and column": ("src/cart.ts:{}:5 - error TS2322: Type 'a' is not assignable", DIGITS),
    "tsc position": ("src/cart.ts({},14): error TS2322: Type 'a' is not assignable", DIGITS),
    "maven position": ("[ERROR] src/Cart.java:[{},22] ';' expected", DIGITS),
    "line word": ('  File "src/cart.py", line {}, in total', DIGITS),
    "pid": ("worker (pid {}) died: no total", DIGITS),
    "sanitizer pid": ("=={}==ERROR: AddressSanitizer: heap-buffer-overflow", DIGITS),
    "thread": ("thread 'tests::total' ({}) panicked at src/lib.rs:3:9:", DIGITS),
    "goroutine": ("goroutine {} [running]: no total", DIGITS),
    "port": ("cannot listen on port {}", st.integers(min_value=1024, max_value=65_535)),
    "address and port": (
        "dial tcp 127.0.0.1:{}: connection refused",
        st.integers(min_value=1024, max_value=65_535),
    ),
    "memory address": ("<Cart object at 0x{}> has no total", HEX),
    "java identity": (
        "expected Cart but was com.shop.Cart@{}",
        st.from_regex(r"[0-9a-f]{7}", fullmatch=True),
    ),
    "uuid": ("session {} has no total", st.uuids().map(str)),
    "hash": ("commit {} has no total", HEX),
    "epoch": ("not ok at {}", st.integers(min_value=1_600_000_000, max_value=1_999_999_999)),
    "epoch with fraction": ("not ok at {}.25", st.integers(min_value=1_600_000_000, max_value=1_999_999_999)),
    "date and time": (
        "no total at {}",
        st.datetimes().filter(lambda d: d.year > 1900).map(lambda d: d.isoformat(sep=" ")),
    ),
    "clock": ("{} ERROR no total", st.times().map(lambda t: t.strftime("%H:%M:%S"))),
    "seconds": ("--- FAIL: TestTotal ({}.01s)", DIGITS),
    "milliseconds": ("total (took {} ms)", DIGITS),
    "percentage": ("FAILED tests/test_cart.py::test_total [ {}%]", st.integers(min_value=10, max_value=99)),
    "xdist worker": ("[gw{}] FAILED tests/test_cart.py::test_total", WORKER),
    "jest worker": ("worker {} failed: no total", WORKER),
    "thread pool": ("pool-{}-thread-3: no total", WORKER),
    "seed": ("Randomized with seed {}: no total", DIGITS),
    "TAP number": ("not ok {} - total", DIGITS),
    "list number": ("  {}) cart total", DIGITS),
    "ctest number": ("3/9 Test #{}: total ... Failed", DIGITS),
    "checkout": ("cannot load such file -- /home/{}/lib/tax.rb", FOLDER),
    "worktree": ("/workspace/{}/t.cpp:31: check failed: total", FOLDER),
    "temporary file": ("cannot stat /tmp/{}/out.txt", FOLDER),
    "temporary name": ("no such file: /tmp/out-{}.txt", HEX),
    "windows checkout": (r"C:\Users\{}\cart.py: no total", FOLDER),
    "gutter": ("> {} | exports.total = 1", DIGITS),
    "retry": ("no total (attempt {} of 5)", st.integers(min_value=1, max_value=5)),
}


@pytest.mark.parametrize("kind", NOISE)
@given(data=st.data())
def test_noise_does_not_change_the_failure(kind, data):
    line, noise = NOISE[kind]
    one, other = data.draw(noise), data.draw(noise)
    assert same_failure(line.format(one), line.format(other))


@given(st.text())
def test_masking_masked_text_changes_nothing(text):
    once = normalise(text)
    assert normalise(once) == once


PATHS = ["/tmp/", "/home/u/", "a.py", ":12:3", "C:\\x", "file://", "tmpabc123", "(4:5)", "..", "..."]
NUMBERS = [
    "0xff",
    "1700000000",
    "2024-01-02",
    "12:00:01",
    "deadbeef1",
    "127.0.0.1:80",
    "12345678",
    "@1a2b3c4",
]
WORDS = [" ", "line 3", "pid=7", "3 ms", "not ok 3", "gw1", "[ 3%]", "seed 9", "==5==", "<", ">"]
PIECES = st.sampled_from([*PATHS, *NUMBERS, *WORDS])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_masking_is_stable_on_the_pieces_of_real_logs(text):
    once = normalise(text)
    assert normalise(once) == once


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("E   assert 3 == 4", "E   assert 3 == 5"),
        ("E   assert 3 == 4", "E   assert 2 == 4"),
        ("AssertionError: 404 != 200", "AssertionError: 500 != 200"),
        ("assert 12345678 == 1", "assert 12345679 == 1"),
        ("FAILED t.py::test_a - assert 1 == 2", "FAILED t.py::test_b - assert 1 == 2"),
        ("ModuleNotFoundError: No module named 'a'", "ModuleNotFoundError: No module named 'b'"),
        ("error[E0425]: cannot find value `x`", "error[E0433]: cannot find value `x`"),
        ("error TS2322: no", "error TS2345: no"),
        ("KeyError: 'kk'", "KeyError: 'zz'"),
        ("cannot load such file -- sequel", "cannot load such file -- /home/u/app/lib/rates"),
        ("GET /api/users: 404", "GET /api/orders: 404"),
        ("  left: 12", "  left: 13"),
        ("HTTP 404", "HTTP 500"),
        ("fatal error: a/core.h: No such file", "fatal error: b/core.h: No such file"),
    ],
)
def test_what_matters_makes_another_failure(one, other):
    assert not same_failure(one, other)


@given(st.integers(0, 9_999_999), st.integers(0, 9_999_999))
def test_expected_values_always_matter(one, other):
    findings = [Finding("not equal", test="t", expected=str(value), actual="x") for value in (one, other)]
    assert (fingerprint(findings[0]) == fingerprint(findings[1])) == (one == other)


def test_order_and_repetition_of_failures_do_not_matter():
    a, b = Finding("no a", test="a"), Finding("no b", test="b")
    assert fingerprint_reading(LogReading((a, b))) == fingerprint_reading(LogReading((b, a, b)))
    assert fingerprint_reading(LogReading((a,))) != fingerprint_reading(LogReading((a, b)))


def test_one_failure_fewer_is_another_state():
    assert not same_failure("KeyError: 'a'\nKeyError: 'b'", "KeyError: 'a'")


def test_a_summary_cut_to_the_terminal_says_only_which_test():
    assert same_failure(
        "FAILED t.py::test_a - AssertionError: session d82fceeed52...",
        "FAILED t.py::test_a - AssertionErr...",
    )


@pytest.mark.parametrize(
    "unit",
    [
        "/a",
        "\\a",
        "0",
        "a",
        "1.",
        "12:",
        "[",
        "0x",
        "tmp",
        ":1",
        "9 ",
        "1700000000",
        "f0",
        "-",
        "(1",
        "C:\\a",
        " |1",
        "==1",
    ],
)
def test_a_long_line_takes_linear_time(unit):
    assert grows_linearly(normalise, lambda size: (unit * size)[:size], 1_500)


@pytest.mark.slow
def test_a_line_of_a_megabyte_takes_linear_time():
    assert grows_linearly(normalise, lambda size: ("==1 C:\\a |9:1" * size)[:size], 125_000)


def test_masks_hold_no_digit_in_what_they_put_in():
    assert not [
        replacement
        for _, replacement in MASKS
        if isinstance(replacement, str) and re.search(r"(?<!\\)\d", replacement)
    ]


@given(st.text(), st.text())
def test_any_text_can_be_compared(one, other):
    assert same_failure(one, one)
    assert same_failure(one, other) == same_failure(other, one)
