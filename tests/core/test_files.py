"""A file is the old one or the new one, whatever happens while it is written."""

from __future__ import annotations

import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from buildloop.files import append_line, write_atomic, write_json

ROOT = Path(__file__).parents[2]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_folder_is_made_and_the_content_is_exact(tmp_path):
    write_atomic(tmp_path / "a" / "b", "x\r\ny\n\u00e4")
    assert (tmp_path / "a" / "b").read_bytes() == "x\r\ny\n\u00e4".encode()
    assert names(tmp_path / "a") == ["b"]


def test_a_value_that_json_cannot_hold_leaves_the_old_file(tmp_path):
    write_json(tmp_path / "f", {"old": 1})
    with pytest.raises(TypeError):
        write_json(tmp_path / "f", {"new": object()})
    assert (tmp_path / "f").read_text() == '{\n  "old": 1\n}\n'


def test_text_that_cannot_be_encoded_leaves_the_old_file_and_no_rest(tmp_path):
    write_atomic(tmp_path / "f", "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomic(tmp_path / "f", "x" * 100_000 + "\ud800")
    assert (tmp_path / "f").read_text() == "old"
    assert names(tmp_path) == ["f"]


def test_a_disk_that_fills_up_half_way_leaves_the_old_file_and_no_rest(tmp_path):
    """The limit on the size of files stands in for the disk: the write fails after 4 kB."""
    write_atomic(tmp_path / "f", "old")
    code = f"""
        import pathlib, resource, signal
        from buildloop.files import write_atomic
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            write_atomic(pathlib.Path({str(tmp_path / "f")!r}), "new" * 10_000)
        except OSError as error:
            print("failed:", error.strerror)
    """
    ran = subprocess.run(
        [sys.executable, "-B", "-c", textwrap.dedent(code)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "failed: File too large\n"
    assert (tmp_path / "f").read_text() == "old"
    assert names(tmp_path) == ["f"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 4096


def test_a_reader_never_sees_half_a_file(tmp_path):
    """While one process rewrites the file, every read is one of the two contents."""
    path, versions = tmp_path / "f", {"a" * 50_000, "b" * 50_000}
    write_atomic(path, "a" * 50_000)
    code = f"""
        import pathlib
        from buildloop.files import write_atomic
        for number in range(40):
            write_atomic(pathlib.Path({str(path)!r}), "ba"[number % 2] * 50_000)
    """
    writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT)
    seen = {path.read_text()}
    while writer.poll() is None:
        seen.add(path.read_text())
    assert writer.returncode == 0
    assert seen <= versions


def test_append_line_adds_whole_lines(tmp_path):
    append_line(tmp_path / "a" / "f", "one")
    append_line(tmp_path / "a" / "f", "two")
    assert (tmp_path / "a" / "f").read_text() == "one\ntwo\n"


def test_append_line_closes_a_line_that_was_cut_short(tmp_path):
    (tmp_path / "f").write_text("one\ntw")
    append_line(tmp_path / "f", "three")
    assert (tmp_path / "f").read_text() == "one\ntw\nthree\n"


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600])
def test_a_file_keeps_its_mode(tmp_path, mode):
    """A script that is patched stays executable; a file that others read stays readable."""
    (tmp_path / "f").write_text("old")
    (tmp_path / "f").chmod(mode)
    write_atomic(tmp_path / "f", "new")
    assert (tmp_path / "f").stat().st_mode & 0o7777 == mode


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    write_atomic(tmp_path / "f", "new")
    assert (tmp_path / "f").stat().st_mode == (tmp_path / "plain").stat().st_mode
