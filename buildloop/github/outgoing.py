"""Looks through what a push would send: every commit that the other side does not have, with its message and names.

Read by git's plumbing, with everything switched off by which a repository can change what git shows: attributes,
drivers, replaced objects, grafts.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from buildloop.redact import Redactor
from buildloop.workspace.git import run_git, write_git

AS_STORED = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": "/dev/null"}
PATCHES = ("diff-tree", "--stdin", "-r", "-m", "-p", "-M", "--root", "--text", "--unified=0", "--full-index")
PLAIN = (
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def secret_in(checkout: Path, tip: str, known: Iterable[str], mask: Redactor) -> str | None:
    """Where the first secret is in what leads to `tip` and not to a `known` commit; None if there is none."""
    asked = "\n".join([tip, *(f"^{one}" for one in known)]) + "\n"
    # The other side may have commits that are not here.
    listed = run_git(
        checkout, "rev-list", "--parents", "--ignore-missing", "--stdin", stdin=asked, env=AS_STORED
    )
    parents = {commit: len(others) for commit, *others in map(str.split, listed.splitlines())}
    commits = "".join(f"{commit}\n" for commit in parents)
    with tempfile.TemporaryFile() as stream:
        write_git(stream, checkout, "cat-file", "--batch", stdin=commits, env=AS_STORED)
        if _changes(b"".join(stream), mask):
            return "the message or author of a commit"
    with tempfile.TemporaryFile() as stream:
        write_git(stream, checkout, *PATCHES, *PLAIN, stdin=commits, env=AS_STORED)
        found = next(secrets_added(stream, parents, mask), None)
    return mask(found) if found else None


def secrets_added(patches: Iterable[bytes], parents: Mapping[str, int], mask: Redactor) -> Iterator[str]:
    """The files to which a commit adds something that would be masked. A merge adds what none of its parents has."""
    met: Counter[tuple[str, str, bytes]] = Counter()
    for commit, places in _by_patch(patches, mask):
        met.update((commit, *place) for place in places)
        needed = max(1, parents.get(commit, 1))
        yield from (file for file, line in sorted(places) if met[commit, file, line] >= needed)


def _by_patch(patches: Iterable[bytes], mask: Redactor) -> Iterator[tuple[str, set[tuple[str, bytes]]]]:
    """Commit and suspicious (file, line) of each patch; a merge has one patch for each parent. A line is read by where
    it stands: inside a hunk, whose length is known, everything is content."""
    commit, file, removed, added = "", "", 0, 0
    places: set[tuple[str, bytes]] = set()
    for raw in patches:
        line = raw.rstrip(b"\n")
        if removed and line.startswith(b"-"):
            removed -= 1
        elif added and line.startswith(b"+"):
            added -= 1
            if _changes(line[1:], mask):
                places.add((file, line))
        elif hunk := HUNK.match(line):
            removed, added = (int(size) if size is not None else 1 for size in hunk.groups())
        elif COMMIT.fullmatch(line):
            yield commit, places
            commit, file, places = line.decode(), "", set()
        elif line.startswith(b"diff --git "):
            file = _name(line)
            if _changes(line, mask):
                places.add((file, b""))
        elif line.startswith(b"+++ b/"):
            file = _name(line)
    yield commit, places


def _name(header: bytes) -> str:
    """The new name in a header, as git spells it."""
    return header.decode("utf-8", "replace").partition(" b/")[2].strip() or "a file with an odd name"


def _changes(content: bytes, mask: Redactor) -> bool:
    """Also in a text of two bytes a character: without its empty bytes it can be read."""
    text = content.replace(b"\0", b"").decode("utf-8", "surrogateescape")
    return mask(text) != text
