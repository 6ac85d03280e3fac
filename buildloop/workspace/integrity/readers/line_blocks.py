"""Tests of languages whose blocks end with a word or a line: Ruby, Elixir, Crystal, bats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from buildloop.workspace.integrity.readers.tokens import Token, tokenize

RUBY_START = re.compile(
    r"^(?P<indent>\s*)(?P<word>x?it|fit|specify|xspecify|fspecify|example|test|scenario|xscenario|pending|skip|@test|def\s+test\w*)\b(?P<rest>.*)$"
)
RUBY_GROUP = re.compile(
    r"^(?P<indent>\s*)(?:RSpec\.)?(?P<word>[xf]?(?:describe|context|feature)|class|module)\b(?P<rest>.*)$"
)


@dataclass(frozen=True, slots=True)
class Block:
    """`tokens` are without its title; `lines` say where it stands if it was not cut out of the file's tokens."""

    name: str
    is_test: bool
    marks: frozenset[str]
    tokens: tuple[Token, ...]
    lines: range = range(0)
    title: Token | None = None


def line_blocks(file: str, text: str) -> Iterator[Block]:
    """Ruby, Elixir and bats: a block ends at the `end` or `}` that stands as far in as its beginning."""
    lines = text.splitlines()
    groups: list[tuple[int, str, frozenset[str]]] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        indent = len(line) - len(line.lstrip())
        groups = [group for group in groups if group[0] < indent or not line.strip()]
        if group := RUBY_GROUP.match(line):
            marks = _line_marks(group["word"], group["rest"])
            groups.append((indent, _title(group["rest"]), marks))
        elif (start := RUBY_START.match(line)) and not (
            start["word"] in ("skip", "pending") and " do" not in line
        ):
            end = _line_end(lines, index, indent)
            body = "\n".join(lines[index + 1 : end])
            inherited = frozenset[str]().union(*(marks for _, _, marks in groups))
            name = " > ".join([title for _, title, _ in groups] + [_title(start["word"] + start["rest"])])
            marks = _line_marks(start["word"], start["rest"])
            inline = "" if end > index + 1 else start["rest"].partition("{")[2]
            yield Block(
                name,
                True,
                inherited | marks,
                tuple(tokenize(body or inline, file)),
                range(index + 1, end + 2),
            )
            index = max(end, index + 1)
            continue
        index += 1


def _line_end(lines: Sequence[str], start: int, indent: int) -> int:
    if re.search(r"\{.*\}\s*$", lines[start]) or not re.search(
        r"(?:\bdo\b(?:\s*\|[^|]*\|)?|\{|\bdef\b.*)\s*$", lines[start]
    ):
        return start + 1
    for index in range(start + 1, len(lines)):
        if re.match(rf"\s{{{indent}}}(?:end|\}})", lines[index]):
            return index
    return len(lines)


def _title(rest: str) -> str:
    found = re.search(r"""["']([^"']+)["']""", rest)
    return found[1] if found else rest.replace("@test", "").replace("def", "").strip().partition(" ")[0]


def _line_marks(word: str, rest: str) -> frozenset[str]:
    found = (
        {word}
        if re.match(r"[xf](?:it|specify|describe|context|feature|scenario)$|pending$|skip$", word)
        else set()
    )
    found |= set(re.findall(r":(?:skip|pending|focus)\b|(?:skip|pending|focus):\s*\S+|@tag :skip", rest))
    return frozenset(found)
