"""Captured output: masked before it reaches the disk, capped with both ends kept, any line length."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from buildloop.capture import Capture
from buildloop.errors import StateWriteError
from buildloop.process import run_process
from buildloop.redact import MASK, redactor
from tests.support.waiting import eventually

SECRET = "hunter2-correct-horse-battery"
REDACT = redactor({"MY_API_KEY": SECRET})


def captured(path: Path, *pieces: bytes, **limits: int) -> bytes:
    with Capture(path, REDACT, **limits) as capture:
        writer = os.dup(capture.write_end)
        capture.start()
        for piece in pieces:
            os.write(writer, piece)
        os.close(writer)
    return path.read_bytes()


def test_small_output_arrives_as_it_was(tmp_path):
    """Also bytes that are not UTF-8, carriage returns, and a last line without a newline."""
    raw = b"one\r\n\xff\xfe\x00 two\n\x1b[31mred\x1b[0m"
    assert captured(tmp_path / "out", raw) == raw


def test_no_output_makes_an_empty_file(tmp_path):
    assert captured(tmp_path / "out") == b""


def test_both_streams_in_one_capture_of_a_process_that_ended_at_once(tmp_path):
    """Its second start comes when all is read and the thread is gone."""
    with Capture(tmp_path / "out", REDACT) as capture:
        capture.start()
        eventually(lambda: not capture._thread.is_alive())
        capture.start()
    assert (tmp_path / "out").read_bytes() == b""


def test_over_the_cap_the_beginning_and_the_end_are_kept(tmp_path):
    lines = [b"line %06d\n" % n for n in range(20_000)]
    kept = captured(
        tmp_path / "out",
        *[b"".join(lines[n : n + 100]) for n in range(0, 20_000, 100)],
        head_bytes=5000,
        tail_bytes=5000,
    )
    assert kept.startswith(lines[0])
    assert kept.endswith(lines[-1])
    assert b"bytes left out here" in kept
    assert len(kept) < 10_100


def test_what_is_left_out_is_counted_to_the_byte(tmp_path):
    pieces = [b"%05d\n" % n for n in range(5000)]
    kept = captured(tmp_path / "out", *pieces, head_bytes=1000, tail_bytes=1000)
    notice = next(line for line in kept.splitlines() if b"left out" in line)
    left_out = int(notice.split()[1])
    assert len(kept) - len(notice) - 2 + left_out == sum(map(len, pieces))


def test_secrets_are_masked_in_the_file(tmp_path):
    kept = captured(tmp_path / "out", f"key={SECRET}\n".encode(), f"again {SECRET}".encode())
    assert SECRET.encode() not in kept
    assert kept.count(MASK.encode()) == 2


def test_a_secret_written_in_two_pieces_is_masked(tmp_path):
    raw = SECRET.encode()
    kept = captured(tmp_path / "out", b"a " + raw[:9], raw[9:] + b" b\n")
    assert kept == f"a {MASK} b\n".encode()


KEY = [b"-----BEGIN OPENSSH PRIVATE KEY-----\n", b"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUA\n" * 20, b"AAAAB3Nz==\n"]
END = b"-----END OPENSSH PRIVATE KEY-----\n"


def test_a_private_key_that_comes_line_by_line_is_masked_whole(tmp_path):
    kept = captured(tmp_path / "out", b"before\n", *KEY, END, b"after\n")
    assert kept == b"before\n" + MASK.encode() + b"\nafter\n"


def test_a_private_key_that_was_cut_off_is_masked_as_far_as_it_came(tmp_path):
    kept = captured(tmp_path / "out", *KEY[:2], b"and then something else\n")
    assert kept == MASK.encode() + b"\nand then something else\n"


def test_the_mere_words_of_a_key_hold_nothing_back_for_ever(tmp_path):
    lines = [b"-----BEGIN RSA PRIVATE KEY-----\n", *[b"line %d of a log\n" % n for n in range(5000)]]
    assert captured(tmp_path / "out", *lines) == MASK.encode() + b"\n" + b"".join(lines[1:])


def test_a_line_of_200_kb_arrives_whole(tmp_path):
    """Longer than any argument or environment variable may be."""
    out = tmp_path / "out"
    program = ["python3", "-c", "print('x' * 200_000)"]
    run_process(
        program, cwd=tmp_path, environment=dict(os.environ), mark="m", stdout=out, redact=REDACT, timeout=60
    )
    assert out.read_bytes() == b"x" * 200_000 + b"\n"


def test_a_secret_is_masked_wherever_it_stands_in_a_very_long_line(tmp_path):
    """The line is written in parts; no part may end in the middle of a secret."""
    line = " ".join([SECRET] * 12_000)
    out = tmp_path / "out"
    (tmp_path / "line").write_text(line)
    run_process(
        ["cat", str(tmp_path / "line")],
        cwd=tmp_path,
        environment=dict(os.environ),
        mark="m",
        stdout=out,
        redact=REDACT,
        timeout=60,
    )
    kept = out.read_text()
    assert kept.replace(MASK, "").strip() == ""
    assert kept.count(MASK) == 12_000


@pytest.mark.parametrize("planted", ["link", "pipe"])
def test_what_was_put_in_the_place_of_the_file_is_neither_followed_nor_waited_for(tmp_path, planted):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    if planted == "link":
        (tmp_path / "out").symlink_to(precious)
    else:
        os.mkfifo(tmp_path / "out")
    assert captured(tmp_path / "out", b"said\n") == b"said\n"
    assert precious.read_text() == "mine"


def test_something_that_holds_the_pipe_open_is_not_waited_for(tmp_path):
    with Capture(tmp_path / "out", REDACT) as capture:
        holder = os.dup(capture.write_end)
        capture.start()
        os.write(holder, b"said\n")
    os.close(holder)
    assert (tmp_path / "out").read_bytes() == b"said\n"


def test_a_file_that_cannot_be_written_stops_nobody_and_is_said(tmp_path):
    """The program still runs to its end; afterwards the error comes out as ours."""
    (tmp_path / "out").mkdir()
    with pytest.raises(StateWriteError, match="cannot write"):
        captured(tmp_path / "out", *[b"x" * 60_000] * 10)


def test_a_full_disk_is_said_and_does_not_hang_the_program(tmp_path):
    with pytest.raises(StateWriteError, match="No space left"):
        run_process(
            ["python3", "-c", "print('x' * 200_000)"],
            cwd=tmp_path,
            environment=dict(os.environ),
            mark="m",
            stdout=Path("/dev/full"),
            redact=REDACT,
            timeout=60,
        )
