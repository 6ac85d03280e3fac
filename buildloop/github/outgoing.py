"""Looks through what a push would send: every commit that the other side does not have, with its message and names."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from buildloop.redact import Redactor
from buildloop.workspace.git import run_git, write_git
from buildloop.workspace.patch import AS_STORED, PLAIN, Added, patch_lines, readable

PATCHES = ("diff-tree", "--stdin", "-r", "-m", "-p", "-M", "--root", *PLAIN)
COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")


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
        write_git(stream, checkout, *PATCHES, stdin=commits, env=AS_STORED)
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
    """Commit and suspicious (file, line) of each patch; a merge has one patch for each parent."""
    commit, file = "", ""
    places: set[tuple[str, bytes]] = set()
    for line in patch_lines(patches):
        if isinstance(line, Added):
            if _changes(line.content, mask):
                places.add((file, b"+" + line.content))
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
    text = readable(content)
    return mask(text) != text
