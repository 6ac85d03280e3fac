"""Texts that a line must hold before a regular expression can match it, read off the expression itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONG_ENOUGH = 8
# Characters of the private area stand for escaped punctuation and for groups that have been read;
# a zero stands for whatever is not one certain character.
ESCAPED, GROUP, UNCERTAIN = 0xE000, 0xF000, "\0"
PUNCTUATION = re.compile(r"\\(\W)")
CLASS = re.compile(r"\[\^?\]?[^\]]*\]|\\(?:x..|u....|.)|[.^$]")
INNERMOST = re.compile(r"\((\?(?:P<\w+>|:|[^:]))?([^()]*)\)([?*]|\{[^}]*\})?")
REPEATED = re.compile(r".(?:[?*]|\{[^}]*\})[?+]?|\+[?+]?")
RUN = re.compile(r"[^\0\uf000-\uf8ff]+")
ANY_GROUP = re.compile(r"[\uf000-\uf8ff]")
PLAIN_AGAIN = {ESCAPED + code: code for code in range(128)}


def required_literals(pattern: str) -> tuple[str, ...]:
    """At least one of these is in every text that `pattern` matches; empty when nothing is certain.

    Flags must not be set inside the pattern except for a group, and case must matter.
    """
    groups: list[tuple[str, ...]] = []

    def read_group(found: re.Match[str]) -> str:
        kind, inside, quantifier = found.groups()
        certain = not quantifier and (kind is None or kind == "?:" or kind.startswith("?P<"))
        groups.append(_literals(inside, groups) if certain else ())
        return chr(GROUP + len(groups) - 1)

    flat = CLASS.sub(UNCERTAIN, PUNCTUATION.sub(_shielded, pattern))
    while "(" in flat:
        flat = INNERMOST.sub(read_group, flat)
    return tuple(literal.translate(PLAIN_AGAIN) for literal in _literals(flat, groups))


def _shielded(found: re.Match[str]) -> str:
    return chr(ESCAPED + ord(found[1])) if found[1].isascii() else found[1]


def _literals(flat: str, groups: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    branches = [_of_branch(branch, groups) for branch in flat.split("|")]
    return tuple(literal for branch in branches for literal in branch) if all(branches) else ()


def _of_branch(branch: str, groups: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The longest run of certain characters, or the alternatives of a group if even the shortest is longer."""
    certain = REPEATED.sub(UNCERTAIN, branch)
    longest = max(RUN.findall(certain), key=len, default="")
    if len(longest) >= LONG_ENOUGH:
        return (longest,)
    alternatives = (groups[ord(group) - GROUP] for group in ANY_GROUP.findall(certain))
    candidates = [(longest,) if longest else (), *alternatives]
    return max(candidates, key=lambda texts: min(map(len, texts), default=0))
