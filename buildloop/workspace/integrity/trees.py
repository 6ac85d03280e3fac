"""Two commits as a list of changed files with their texts."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from buildloop.workspace.git import known_git
from buildloop.workspace.integrity.model import Change
from buildloop.workspace.kept_git import repository

# Larger files hold no tests that a person wrote; their change is seen, their text is not compared.
LARGEST = 2 * 2**20
CHUNK = 2**16
CHANGES = ("diff", "--raw", "-z", "-M", "--no-abbrev")
SMALL, MOST_PAIRS, ALIKE = 2000, 400, 0.6
TOKEN = re.compile(r"\w+|[^\w\s]")

Blob = Callable[[str], str | None]


@contextlib.contextmanager
def blobs(root: Path) -> Iterator[Blob]:
    """Asks for the text of an object by its name (`COMMIT:FILE` or its hash); one git process answers all."""

    def text(name: str) -> str | None:
        if "\n" in name:
            return None
        try:
            _, kind, size, stream = reader.git.stream_object_data(name)
        except ValueError:
            return None
        small = "blob" in str(kind) and size <= LARGEST  # GitPython gives bytes or text
        kept = stream.read() if small else b""
        while stream.read(CHUNK):
            pass  # the next answer comes after the whole of this one
        return kept.decode("utf-8", "replace") if "blob" in str(kind) else None

    with repository(root) as reader:
        yield text


def changes_between(root: Path, start: str, commit: str, blob: Blob) -> list[Change]:
    """Every changed file; a moved one counts as one change with two names."""
    parts = known_git(root, *CHANGES, start, commit).split("\0")
    found: list[Change] = []
    while len(parts) > 1:
        head = parts.pop(0).lstrip(":").split(" ")
        status = head[4][:1]
        old_name = name = parts.pop(0)
        if status in "RC":
            name = parts.pop(0)
        before, after = (blob(head[i + 2]) if head[i].startswith("1") else None for i in (0, 1))
        if status == "C":
            status, before = "A", None
        found.append(Change(status, name, old_name, before, after, head[1]))
    return _paired(found)


def _paired(changes: list[Change]) -> list[Change]:
    """Small files that moved and were changed: git compares lines, and a file of three has too few of them."""
    gone = [c for c in changes if c.status == "D" and c.before and len(c.before) < SMALL]
    fresh = [c for c in changes if c.status == "A" and c.after and len(c.after) < SMALL]
    if not gone or not fresh or len(gone) * len(fresh) > MOST_PAIRS:
        return changes
    alike = sorted(
        (
            (_likeness(old.before or "", new.after or ""), i, k)
            for i, old in enumerate(gone)
            for k, new in enumerate(fresh)
            if PurePosixPath(old.name).suffix == PurePosixPath(new.name).suffix
        ),
        reverse=True,
    )
    moved: dict[Change, Change] = {}
    for likeness, i, k in alike:
        if likeness >= ALIKE and gone[i] not in moved and fresh[k] not in moved.values():
            moved[gone[i]] = fresh[k]
    arrived = {new: old for old, new in moved.items()}
    return [
        replace(c, status="R", old_name=arrived[c].name, before=arrived[c].before) if c in arrived else c
        for c in changes
        if c not in moved
    ]


def _likeness(before: str, after: str) -> float:
    return difflib.SequenceMatcher(None, TOKEN.findall(before), TOKEN.findall(after), autojunk=False).ratio()
