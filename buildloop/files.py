"""Files that are either the old one or the new one, never half of either."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from buildloop.redact import mask_own


def write_atomic(path: Path, text: str, *, raw: bool = False, view: bool = False) -> None:
    """Replace `path` by `text`; a crash or a full disk at any point leaves the old content. Its mode stays.

    Secrets of this environment are masked; `raw` is for files that are not ours to change, such as a project's. A
    `view` can be made again from what is kept elsewhere: nobody waits until the disk has it, so that a power cut (not a
    kill) may take it back.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}")
    try:
        with temporary.open("x", encoding="utf-8", errors="surrogateescape", newline="") as stream:
            if path.exists():
                os.fchmod(stream.fileno(), path.stat().st_mode & 0o7777)
            stream.write(text if raw else mask_own(text))
            _hand_over(stream, synced=not view)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any, *, raw: bool = False, view: bool = False) -> None:  # noqa: ANN401 (anything JSON can hold)
    write_atomic(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n", raw=raw, view=view)


def append_line(path: Path, line: str, *, view: bool = False) -> None:
    """Add one whole line, safe with other writers; a line that a crash cut short is closed first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as stream, locked(stream.fileno()):
        end = stream.seek(0, os.SEEK_END)
        torn = end > 0 and _byte_at(stream.fileno(), end - 1) != b"\n"
        stream.write((b"\n" if torn else b"") + mask_own(line).encode("utf-8", "surrogateescape") + b"\n")
        _hand_over(stream, synced=not view)


def _hand_over(stream: IO[Any], *, synced: bool) -> None:
    """To the kernel, which a kill of ours does not touch; `synced`: and to the disk."""
    stream.flush()
    if synced:
        os.fsync(stream.fileno())


@contextlib.contextmanager
def locked(descriptor: int) -> Iterator[None]:
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _byte_at(descriptor: int, offset: int) -> bytes:
    return os.pread(descriptor, 1, offset)
