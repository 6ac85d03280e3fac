"""Source text of languages without a parser here, as tokens: comments gone, strings whole, brackets matched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HASH_COMMENTS = re.compile(r"\.(?:rb|exs?|bats|sh|bash|t|pl|pm|php|cr)$")
OPEN, CLOSE = "([{", ")]}"
NUMBER = re.compile(r"\d[\w.]*")
WORD = re.compile(r"`[^`\n]+`(?=\s*\()|[A-Za-z_$@][\w$]*[?!]?(?=\W|$)|[A-Za-z_$@][\w$]*")
LIFETIME = re.compile(r"'[a-z_]\w*(?!')")
REGEX_MAY_FOLLOW = frozenset("( , = : [ ! & | ? { } ; return".split())


@dataclass(frozen=True, slots=True)
class Token:
    kind: str  # word, number, string, other
    text: str
    line: int

    @property
    def literal(self) -> bool:
        return self.kind in ("number", "string") or self.text in (
            "true",
            "false",
            "null",
            "nil",
            "None",
            "undefined",
        )


def tokenize(text: str, file: str) -> list[Token]:
    hashes = bool(HASH_COMMENTS.search(file))
    found: list[Token] = []
    place, line, size = 0, 1, len(text)
    while place < size:
        char = text[place]
        if char == "\n":
            line += 1
            place += 1
        elif char.isspace():
            place += 1
        elif end := _comment_end(text, place, hashes):
            line += text.count("\n", place, end)
            place = end
        elif end := _string_end(text, place, file, found):
            found.append(Token("string", _plain(text[place:end]), line))
            line += text.count("\n", place, end)
            place = end
        else:
            token = _simple(text, place, line)
            found.append(token)
            place += len(token.text)
    return found


def _simple(text: str, place: int, line: int) -> Token:
    if number := NUMBER.match(text, place):
        return Token("number", number.group().rstrip("."), line)
    if word := WORD.match(text, place):
        return Token("word", word.group(), line)
    return Token("other", text[place], line)


def _comment_end(text: str, place: int, hashes: bool) -> int:
    if text.startswith("/*", place):
        end = text.find("*/", place + 2)
        return len(text) if end < 0 else end + 2
    starts = text.startswith("//", place) and not hashes
    if hashes and text[place] == "#":
        starts = place == 0 or text[place - 1] in " \t\n;"
    if not starts:
        return 0
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _string_end(text: str, place: int, file: str, before: Sequence[Token]) -> int:  # noqa: PLR0911
    quote = text[place]
    if quote == "'" and file.endswith(".rs") and LIFETIME.match(text, place):
        return 0
    if quote == "/" and re.search(r"\.[cm]?[jt]sx?$|\.rb$", file):
        return _regex_end(text, place) if not before or before[-1].text in REGEX_MAY_FOLLOW else 0
    if (
        quote == "%"
        and file.endswith(".rb")
        and (words := re.compile(r"%[wWiI]\[[^\]]*\]").match(text, place))
    ):
        return words.end()
    if quote not in "'\"`" or (quote == "`" and re.search(r"\.(?:kts?|scala|swift)$", file)):
        return 0
    raw = quote == "`" and file.endswith(".go")
    position = place + 1
    while position < len(text):
        if text[position] == "\\" and not raw:
            position += 2
        elif text[position] == quote:
            return position + 1
        elif (
            text[position] == "\n"
            and quote != "`"
            and not file.endswith((".rs", ".bats", ".sh", ".php", ".rb"))
        ):
            return position
        else:
            position += 1
    return len(text)


def _regex_end(text: str, place: int) -> int:
    found = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n])+/[a-z]*").match(text, place)
    return found.end() if found else 0


def _plain(string: str) -> str:
    """The same text in other quotes is the same string."""
    if len(string) > 1 and string[0] in "'\"" and string[-1] == string[0] and '"' not in string[1:-1]:
        return f'"{string[1:-1]}"'
    return string


def closing(tokens: Sequence[Token], start: int) -> int:
    """The index of the bracket that closes the one at `start`; the last index where none does."""
    depth = 0
    for index in range(start, len(tokens)):
        if tokens[index].text in OPEN and tokens[index].kind == "other":
            depth += 1
        elif tokens[index].text in CLOSE and tokens[index].kind == "other":
            depth -= 1
            if depth == 0:
                return index
    return len(tokens) - 1


def written(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens if token.text not in (";", ","))
