"""Whether a change could alter what the gate says, as far as its diff shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from buildloop.diagnosis.known_packages import words
from buildloop.patterns import Regex

FILE_HEADER = Regex(r"(?P<side>\+\+\+|---) (?:[ab]/)?(?P<path>[^\t\n]+)")
# Changes without lines: of content that is not text, of names and of permissions.
UNSEEN = Regex(r"^(?:Binary files |GIT binary patch|rename (?:from|to) |new mode )", re.M)
PROSE_SUFFIXES = frozenset({".md", ".markdown", ".rst", ".adoc", ".org"})
PROSE_NAMES = words(
    "README LICENSE LICENCE COPYING NOTICE AUTHORS CONTRIBUTORS CHANGELOG CHANGES HISTORY NEWS TODO "
    "CODEOWNERS "
    ".gitignore .editorconfig .gitattributes .mailmap"
)
C_STYLE = ("//", "/*", "*/", "* ")
COMMENT_STARTS: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = (
    (words(".py .rb .pl .pm .t .sh .bash .bats .yml .yaml .toml .ex .exs .r .R .php"), ("#",)),
    (
        words(".js .mjs .cjs .jsx .ts .tsx .go .rs .java .kt .scala .swift .cs .dart .php"),
        ("//", "/*", "*/", "* "),
    ),
    (words(".c .cc .cpp .cxx .h .hh .hpp"), C_STYLE),
    (words(".lua .sql .hs"), ("--",)),
)
# Comments that tools obey, and comments that are run as tests.
OBEYED = Regex(
    r"^#!|^//[/!]|noqa|type:|pragma|eslint|@ts-|nolint|go:|\+build|pylint|rubocop|istanbul|c8 |coding[:=]"
    r"|>>>|mypy:|ruff:"
)


def may_matter(diff: str) -> bool:
    """False only when every changed line is prose, a comment or blank."""
    return bool(UNSEEN.search(diff)) or any(_matters(path, changed) for path, changed in _changes(diff))


def _changes(diff: str) -> Iterator[tuple[str, list[str]]]:
    """Each file with the lines that were added or removed."""
    path, lines = "", list[str]()
    for line in diff.splitlines():
        if header := FILE_HEADER.match(line):
            if header.group("side") == "---":
                yield path, lines
                path, lines = header.group("path"), []
            elif header.group("path") != "/dev/null":
                path = header.group("path")
        elif line[:1] in ("+", "-"):
            lines.append(line[1:].strip())
    yield path, lines


def _matters(path: str, changed: Iterable[str]) -> bool:
    name = PurePosixPath(path)
    if (
        name.suffix.lower() in PROSE_SUFFIXES
        or name.name.split(".")[0] in PROSE_NAMES
        or name.name in PROSE_NAMES
    ):
        return False
    starts = tuple(
        start for suffixes, starts in COMMENT_STARTS if name.suffix in suffixes for start in starts
    )
    return any(line and (not _is_comment(line, starts) or OBEYED.search(line)) for line in changed)


def _is_comment(line: str, starts: tuple[str, ...]) -> bool:
    return line == "*" or line.startswith(starts)
