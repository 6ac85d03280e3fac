"""Reads patches as git's plumbing prints them, whatever they hold, and says how to have them printed.

Switched off is everything by which a repository or a user's settings change what git shows: attributes, drivers,
replaced objects, grafts, other prefixes. A line is read by where it stands: inside a hunk, whose length is known,
everything is content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

AS_STORED = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": "/dev/null"}
PLAIN = (
    "--text",
    "--unified=0",
    "--inter-hunk-context=0",
    "--full-index",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.S)
SHORT = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass(frozen=True, slots=True)
class Added:
    """A line that a patch adds, and its number in the new file."""

    number: int
    content: bytes


def patch_lines(patches: Iterable[bytes]) -> Iterator[Added | bytes]:
    """Added lines, and as bytes all lines outside of hunks."""
    removed = added = number = 0
    for raw in patches:
        line = raw.removesuffix(b"\n")
        if removed and line.startswith(b"-"):
            removed -= 1
        elif added and line.startswith(b"+"):
            added -= 1
            yield Added(number, line[1:])
            number += 1
        elif removed and added and line.startswith(b" "):  # context, which GIT_DIFF_OPTS can ask for
            removed, added, number = removed - 1, added - 1, number + 1
        elif hunk := HUNK.match(line):
            removed, added = (int(size) if size is not None else 1 for size in hunk.group(1, 3))
            number = int(hunk[2])
        else:
            yield line


def same_name(header: bytes) -> str | None:
    """The file of a `diff --git` line of a patch without renames: it stands there twice. None for other lines."""
    if not header.startswith(b"diff --git "):
        return None
    names = header.removeprefix(b"diff --git ")
    once = names[: len(names) // 2]
    if once.startswith(b'"'):
        once = ESCAPED.sub(_unescaped, once[1:-1])
    return once.removeprefix(b"a/").decode("utf-8", "surrogateescape")


def readable(content: bytes) -> str:
    """Also a text of two bytes a character: without its empty bytes it can be read."""
    return content.replace(b"\0", b"").decode("utf-8", "surrogateescape")


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8)]) if code.isdigit() else SHORT.get(code, code)
