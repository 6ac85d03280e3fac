"""Whether a change could alter what the gate says, as far as its diff shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

FILE_HEADER = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?(?P<path>[^\t\n]+)")
PROSE_SUFFIXES = frozenset({".md", ".markdown", ".rst", ".adoc", ".org"})
PROSE_NAMES = frozenset(
    "README LICENSE LICENCE COPYING NOTICE AUTHORS CONTRIBUTORS CHANGELOG CHANGES HISTORY NEWS TODO CODEOWNERS .gitignore "
    ".editorconfig .gitattributes .mailmap".split()
)
C_STYLE = ("//", "/*", "*/", "* ")
HASH_STYLE = ("# ", "#!")
COMMENT_STARTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            ".py",
            ".rb",
            ".pl",
            ".pm",
            ".t",
            ".sh",
            ".bash",
            ".bats",
            ".yml",
            ".yaml",
            ".toml",
            ".ex",
            ".exs",
            ".r",
        ),
        HASH_STYLE,
    ),
    **dict.fromkeys(
        ".js .mjs .cjs .jsx .ts .tsx .go .rs .java .kt .scala .swift .c .cc .cpp .cxx .h .hh .hpp .cs .dart".split(),
        C_STYLE,
    ),
    ".php": ("//", "/*", "*/", "* ", "# "),
    ".lua": ("--",),
    ".sql": ("--",),
    ".hs": ("--",),
}


def may_matter(diff: str) -> bool:
    """False only when every changed line is prose, a comment or blank."""
    return any(_matters(path, changed) for path, changed in _changed_lines(diff))


def _changed_lines(diff: str) -> Iterator[tuple[str, list[str]]]:
    path, lines = "", list[str]()
    for line in diff.splitlines():
        header = FILE_HEADER.match(line)
        if header and not (line.startswith("---") and lines and not path):
            if line.startswith("---"):
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
    comments = COMMENT_STARTS.get(name.suffix.lower(), ())
    return any(line and not line.startswith(comments) and line not in ("*", "#") for line in changed)
