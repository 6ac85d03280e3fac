"""Finds the parts of a huge log that may say why it is red, in one pass and bounded memory.

A log of hundreds of megabytes is mostly uneventful. Each word of trouble is searched with `bytes.find`, which
runs at memory speed; around its first and last occurrences a window is kept, and only the windows are parsed.
A line that differs only in its digits from one that was kept is the same line again, and no word can crowd
out another: what is said ten thousand times says little.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from typing import BinaryIO

CHUNK = 1 << 20
WHOLE = 1 << 20  # logs up to this size are parsed whole
HEAD = 64 << 10
TAIL = 128 << 10
BEFORE = 2 << 10
AFTER = 4 << 10
FIRST_KEPT = 32
LAST_KEPT = 12
LINE_HEAD = 120  # as much of a line as is compared, before and after the word
LINE_TAIL = 200
MAX_KNOWN = 20_000
DIGITS = b"0123456789"
GAP = b"\n\n"

TROUBLE: tuple[bytes, ...] = (
    b"rror",
    b"ERR",
    b"FAIL",
    b"ailed",
    b"ailure",
    b"xception",
    b"Traceback",
    b"panic",
    b"fatal",
    b"assert",
    b"xpected",
    b"not ok ",
    b"\nE  ",
    b"ot found",
    b"undefined",
    b"illed",
    b"imed out",
    b"\xe2\x9c\x95",  # ✕
    b"\xe2\x9c\x98",  # ✘
    b"\xe2\x97\x8f",  # ●
)
OVERLAP = max(map(len, TROUBLE)) - 1


class _Kept:
    """The windows around the lines with one word: the first few, and the last few."""

    def __init__(self) -> None:
        self.first: list[tuple[int, int]] = []
        self.last: deque[tuple[int, int]] = deque(maxlen=LAST_KEPT)
        self.known: set[bytes] = set()

    def is_news(self, line: bytes) -> bool:
        template = line.translate(None, DIGITS)
        if template in self.known:
            return False
        if len(self.known) < MAX_KNOWN:
            self.known.add(template)
        return True

    def add(self, position: int) -> None:
        window = (max(0, position - BEFORE), position + AFTER)
        if len(self.first) < FIRST_KEPT:
            self.first.append(window)
        else:
            self.last.append(window)


def skim(stream: BinaryIO) -> bytes:
    """The whole log when it is small, else its beginning, its end and the windows around trouble."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    if size <= WHOLE:
        return stream.read()
    kept = _windows(_chunks(stream))
    spans = _merged([(0, HEAD), *kept, (max(0, size - TAIL), size)])
    return GAP.join(_whole_lines(stream, start, end) for start, end in spans)


def _chunks(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Chunks with their offsets; each begins with the last bytes of the one before: no word is cut."""
    offset, carry = 0, b""
    while block := stream.read(CHUNK):
        chunk = carry + block
        yield offset, chunk
        carry = chunk[-OVERLAP:]
        offset += len(chunk) - len(carry)


def _windows(chunks: Iterable[tuple[int, bytes]]) -> list[tuple[int, int]]:
    kept = [_Kept() for _ in TROUBLE]
    for offset, chunk in chunks:
        for word, windows in zip(TROUBLE, kept, strict=True):
            _search(chunk, offset, word, windows)
    return [window for windows in kept for window in (*windows.first, *windows.last)]


def _search(chunk: bytes, offset: int, word: bytes, windows: _Kept) -> None:
    position = chunk.find(word)
    while position >= 0:
        start = chunk.rfind(b"\n", max(0, position - LINE_HEAD), position) + 1 or max(0, position - LINE_HEAD)
        end = chunk.find(b"\n", position + 1, position + LINE_TAIL)
        end = end if end >= 0 else min(len(chunk), position + LINE_TAIL)
        if windows.is_news(chunk[start:end]):
            windows.add(offset + position)
            end = position + AFTER
        position = chunk.find(word, end)


def _merged(windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(windows):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _whole_lines(stream: BinaryIO, start: int, end: int) -> bytes:
    """The window without the lines that it cuts in two, unless nothing else would be left."""
    stream.seek(start)
    window = stream.read(end - start)
    first = window.find(b"\n") + 1 if start else 0
    last = window.rfind(b"\n")
    return window[first:last] if first < last else window
