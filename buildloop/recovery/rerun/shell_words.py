"""A shell command as words, if it is one plain command: everything else is somebody's program, not ours to edit."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

_QUOTED = r"""\\.|'[^']*'"""
_BARE = r"""[^\s'"\\;&|()<>`$]"""
_WORD = rf"""(?!\#)(?:{_BARE}|{_QUOTED}|"(?:[^"\\`$]|\\.)*")+"""
_VARIABLE = r"\$\w+|\$\{\w+\}"
_VALUE = rf"""(?:{_BARE}|{_QUOTED}|{_VARIABLE}|"(?:[^"\\`$]|\\.|{_VARIABLE})*")*"""
_ASSIGNMENT = rf"[A-Za-z_]\w*={_VALUE}(?=\s)"
# What may stand before the program and stays as it is: a change of folder, variables for the program.
BEFORE = re.compile(
    rf"\s*(?:cd\s+{_WORD}\s*&&\s*)*(?:{_ASSIGNMENT}\s+)*(?:env\s+(?:{_ASSIGNMENT}\s+)+)?", re.VERBOSE
)
WORD = re.compile(_WORD, re.VERBOSE)


@dataclass(frozen=True, slots=True)
class Word:
    """`raw` is what the user typed, quotes and all; `value` is what the program gets."""

    raw: str
    value: str

    @property
    def name(self) -> str:
        return self.value.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class PlainCommand:
    before: str
    words: tuple[Word, ...]


def plain_command(command: str) -> PlainCommand | None:
    """None for pipes, lists, subshells, substitutions, redirections, comments and several lines."""
    if "\n" in command.strip():
        return None
    opening = BEFORE.match(command)
    assert opening is not None
    rest = command[opening.end() :].strip()
    words: list[Word] = []
    while rest:
        found = WORD.match(rest)
        if found is None or (found.end() < len(rest) and not rest[found.end()].isspace()):
            return None
        words.append(Word(found[0], shlex.split(found[0])[0]))
        rest = rest[found.end() :].lstrip()
    return PlainCommand(opening[0].lstrip(), tuple(words)) if words else None
