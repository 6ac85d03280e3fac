"""The reader as a whole: cleaning, ranking, choosing, exit codes, size and hostile input."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildloop.diagnosis.model import LogReading, TestCounts
from buildloop.gate import skim
from buildloop.gate.clean import MAX_LINE, clean_lines
from buildloop.gate.read import read_log, read_text

TSC = "src/a.ts(2,26): error TS2322: Type 'string' is not assignable to type 'number'."


# cleaning


@pytest.mark.parametrize(
    "wrapped",
    [
        f"\x1b[31m{TSC}\x1b[0m",
        f"\x1b]8;;http://x\x07{TSC}\x1b]8;;\x07",
        f"{TSC}\r",
        f"10%\r50%\r100%\r{TSC}",
        f"2024-03-05T10:12:01.1234567Z {TSC}",
        f"\ufeff2024-03-05T10:12:01.1234567Z {TSC}",
        f"build\tRun npm test\t2024-03-05T10:12:01.1234567Z {TSC}",
        f"2024-03-05T10:12:01.1234567Z ##[error]{TSC}",
        f"2024-05-01T12:00:00.123456Z 01E {TSC}",
        f"[2024-03-05T10:12:01.123Z] {TSC}",
        f"[10:12:01] :\t [Step 1/1] {TSC}",
        f"[00:04:37] {TSC}",
        f"#8 1.234 {TSC}",
        f"travis_time:start:0a1b2c\r\x1b[0K{TSC}",
        f"section_start:1700000002:step_script\r\x1b[0K{TSC}",
        f"@acme/ui: {TSC}\n@acme/ui: a\n@acme/ui: b",
        f"@acme/ui:build: {TSC}\n@acme/ui:build: a\n@acme/ui:build: b",
        f"web-1  | {TSC}\nweb-1  | a\nweb-1  | b",
        f"12:00:01 {TSC}\n12:00:01 a\n12:00:02 b",
    ],
)
def test_a_wrapper_hides_nothing(wrapped: str):
    reading = read_text(wrapped + "\n", 2)
    assert reading.location == "src/a.ts:2"
    assert reading.error_lines[0] == TSC


def test_colours_that_lost_their_escape_character_are_dropped():
    coloured = "\n".join(f"[32m.[0m[0K{n}" for n in range(6))
    assert clean_lines(coloured + f"\n[31m{TSC}[0m")[-1] == TSC
    assert clean_lines("a[0m") == ["a[0m"]


def test_what_a_program_prints_itself_is_no_wrapper():
    lines = ["12:00:00 started", "error: boom", "at main"]
    assert clean_lines("\n".join(lines)) == lines
    frame = ["error: x", "  3 | let a", "  4 | let b", "    | ^"]
    assert clean_lines("\n".join(frame)) == frame


def test_a_line_of_any_length_is_cut():
    assert [len(line) for line in clean_lines("x" * 1_000_000)] == [MAX_LINE]


# what is shown


def test_the_first_cause_comes_before_its_cascades():
    reading = read_text(
        f"{TSC}\nnpm ERR! code ELIFECYCLE\nnpm ERR! Exit status 2\nmake: *** [Makefile:3: all] Error 1\n"
        "##[error]Process completed with exit code 2.\n",
        2,
    )
    assert reading.error_lines[0] == TSC
    assert reading.findings[0].location == "src/a.ts:2"


def test_several_tools_in_one_log_are_all_heard():
    reading = read_text(
        f"{TSC}\n--- FAIL: TestLedger (0.01s)\n    ledger_test.go:31: Balance() = 3, want 4\nFAIL\n"
        'm.py:5: error: Name "x" is not defined  [name-defined]\n',
        1,
    )
    assert {"tsc", "go test", "mypy"} <= set(reading.tools)


def test_where_a_tool_says_what_is_wrong_hints_are_lines_and_not_findings():
    reading = read_text(f"ERROR worker 7 lost its shard\n{TSC}\nmake: *** [Makefile:3: all] Error 1\n", 2)
    assert [finding.tool for finding in reading.findings] == ["tsc"]
    assert "ERROR worker 7 lost its shard" in reading.error_lines


def test_what_a_passing_test_logged_comes_after_what_failed():
    reading = read_text(
        "java.net.ConnectException: Connection refused\n\tat com.acme.Service.call(Service.java:44)\n"
        "[ERROR] total(com.acme.CartTest)  Time elapsed: 0.01 s  <<< FAILURE!\n"
        "java.lang.AssertionError: expected:<6> but was:<2>\n\tat "
        "com.acme.CartTest.total(CartTest.java:19)\n",
        1,
    )
    assert reading.location == "CartTest.java:19"


def test_at_most_twenty_lines_none_twice():
    log = "".join(f"src/a{n}.ts({n},1): error TS2322: no {n}\n" * 2 for n in range(60))
    lines = read_text(log, 2).error_lines
    assert len(lines) == 20
    assert len(set(lines)) == 20


def test_one_failure_repeated_is_one_finding():
    assert len(read_text(f"{TSC}\n" * 5, 2).findings) == 1


def test_zero_means_no_errors_whatever_the_log_says():
    reading = read_text(f"{TSC}\n12 passed in 0.1s\n", 0)
    assert (reading.findings, reading.error_lines, reading.failing) == ((), (), ())
    assert reading.counts == TestCounts(run=12, passed=12, failed=0, skipped=0)


def test_unknown_exit_code_shows_errors_but_invents_none():
    assert read_text(TSC).findings
    assert read_text("all is well\n") == LogReading()


def test_a_red_log_that_nobody_understands_shows_its_end():
    assert read_text("frobnicating\nthe gizmo went away\n", 3).error_lines[-1] == "the gizmo went away"


def test_an_echo_alone_brings_what_was_said_before_it():
    reading = read_text("reticulating splines\nsplines are bent\nmake: *** [Makefile:2: all] Error 1\n", 2)
    assert reading.error_lines[:2] == ("reticulating splines", "splines are bent")


# size


def test_a_huge_log_gives_what_a_small_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(skim, "WHOLE", 100_000)
    path = tmp_path / "huge.log"
    noise = "".join(f"INFO request {n} handled, no error, in {n % 97} ms\n" for n in range(20_000))
    path.write_text(noise + TSC + "\n" + noise, encoding="utf-8")
    excerpt = skim.skim(path.open("rb"))
    assert len(excerpt) < path.stat().st_size / 2
    assert read_log(path, 2).location == "src/a.ts:2"


def test_a_word_at_the_edge_of_a_chunk_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(skim, "CHUNK", 4096)
    monkeypatch.setattr(skim, "WHOLE", 1000)
    monkeypatch.setattr(skim, "HEAD", 100)
    monkeypatch.setattr(skim, "TAIL", 100)
    path = tmp_path / "edge.log"
    for shift in range(4080, 4100):
        path.write_bytes(b"." * (shift - 1) + b"\nTraceback\n" + (b"." * 79 + b"\n") * 400)
        with path.open("rb") as stream:
            assert b"Traceback" in skim.skim(stream)


def test_text_and_file_are_read_alike(tmp_path: Path):
    path = tmp_path / "a.log"
    path.write_text(TSC, encoding="utf-8")
    assert read_log(path, 2) == read_text(TSC, 2)
