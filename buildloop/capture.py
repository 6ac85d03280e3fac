"""Streams a process's output into a file: masked, and with a cap that keeps both ends."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import threading
import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from buildloop.errors import StateWriteError
from buildloop.redact import Redactor, unfinished_key

HEAD_BYTES = 48 * 2**20
TAIL_BYTES = 16 * 2**20
CHUNK_BYTES = 2**16
HELD_BYTES = 4096
# Once the process is gone its pipe holds no more than this; whoever still writes into it is not the process.
LEFT_BYTES = 2**20
SILENCE_MS = 2000


class Capture:
    """Write into `write_end`; the beginning and the end of it arrive in `path`."""

    def __init__(
        self, path: Path, redact: Redactor, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES
    ) -> None:
        self._read_end, self.write_end = os.pipe()
        self._path, self._redact = path, redact
        self._head_left, self._tail_limit = head_bytes, tail_bytes
        self._tail: deque[bytes] = deque()
        self._tail_size = self._left_out = 0
        self._thread = threading.Thread(target=self._pump, daemon=True)
        self._error: OSError | None = None
        self._leaving = threading.Event()
        self._left = LEFT_BYTES
        self.last_output = time.monotonic()

    def __enter__(self) -> Capture:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return self

    def start(self) -> None:
        """Call once the process has its copy of `write_end`; ours is closed, so its end becomes visible.

        A second call does nothing, also when the process was so quick that everything is read already.
        """
        if self._thread.ident is None:
            os.close(self.write_end)
            self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread.ident is None:
            os.close(self.write_end)
        else:
            self._leaving.set()
            self._thread.join()
        os.close(self._read_end)
        if self._error is not None and error is None:
            raise StateWriteError(f"cannot write {self._path}: {self._error.strerror}") from self._error

    def _pump(self) -> None:
        try:
            self._copy()
        except OSError as error:
            self._error = error
            # Whoever writes must not block on a pipe that nobody reads.
            while self._next_chunk():
                pass

    def _next_chunk(self) -> bytes:
        """Empty at the end; also when the process is gone, but something it left behind holds its pipe open."""
        waiting = select.poll()
        waiting.register(self._read_end, select.POLLIN)
        while not waiting.poll(SILENCE_MS):
            if self._leaving.is_set():
                return b""
        if self._leaving.is_set():
            self._left -= CHUNK_BYTES
        return os.read(self._read_end, CHUNK_BYTES) if self._left > 0 else b""

    def _new_file(self) -> BinaryIO:
        """Always a file of our own: whoever runs in a sandbox may have put a link or a pipe in its place."""
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISCHR(self._path.lstat().st_mode):
                self._path.unlink()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        return os.fdopen(os.open(self._path, flags, 0o644), "wb")

    def _copy(self) -> None:
        with self._new_file() as stream:
            pending = b""
            while chunk := self._next_chunk():
                self.last_output = time.monotonic()
                whole, newline, pending = (pending + chunk).rpartition(b"\n")
                if newline:
                    lines = whole + newline
                    ready = unfinished_key(lines)
                    self._keep(stream, lines[:ready])
                    pending = lines[ready:] + pending
                if len(pending) > CHUNK_BYTES:
                    cut = self._cut_point(pending)
                    self._keep(stream, pending[:cut])
                    pending = pending[cut:]
                stream.flush()
            self._keep(stream, pending)
            tail = self._masked_tail()
            if self._left_out:
                stream.write(b"\n[buildloop: %d bytes left out here]\n" % self._left_out)
            stream.write(tail)

    def _masked(self, data: bytes) -> bytes:
        return self._redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def _cut_point(self, line: bytes) -> int:
        """Where a very long line may be cut: its end is held back, and no secret stands across the cut."""
        last = len(line) - HELD_BYTES
        for cut in range(last, last - HELD_BYTES, -1):
            before, after = line[cut - HELD_BYTES : cut], line[cut:]
            if self._masked(before) + self._masked(after) == self._masked(before + after):
                return cut
        return last

    def _keep(self, stream: BinaryIO, data: bytes) -> None:
        """Masking takes longer than all the rest, so what lies between the two ends goes without it."""
        if self._head_left > 0:
            masked = self._masked(data)
            stream.write(masked[: self._head_left])
            rest, self._head_left = masked[self._head_left :], self._head_left - len(masked)
            if rest:
                self._add_to_tail(rest)
        elif data:
            self._add_to_tail(data)

    def _add_to_tail(self, data: bytes) -> None:
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            dropped = len(self._tail.popleft())
            self._tail_size -= dropped
            self._left_out += dropped

    def _masked_tail(self) -> bytes:
        """Only what is masked may be cut: half of a secret is not recognised."""
        whole = b"".join(map(self._masked, self._tail))
        surplus = max(0, len(whole) - self._tail_limit)
        self._left_out += surplus
        return whole[surplus:]
