"""Texts that a line must hold before a pattern can match it, read off the pattern itself."""

from __future__ import annotations

from collections.abc import Iterator

META = "()[]{}|.^$*+?\\"
LONG_ENOUGH = 8
QUANTIFIERS_OF_NOTHING = "?*{"
# Assertions consume nothing; without regard to case no text is certain.
NO_LITERAL = ("(?!", "(?<", "(?=", "(?i:")


def required_literals(pattern: str) -> tuple[str, ...]:
    """At least one of these is in every text that `pattern` matches; empty when nothing is certain.

    Only what the tables use is understood: groups, classes, escapes and quantifiers. No inline flags, and no
    alternatives outside a group.
    """
    longest = max(_runs(pattern), key=len, default="")
    if len(longest) >= LONG_ENOUGH:
        return (longest,)
    candidates = [(longest,), *_alternatives(pattern)] if longest else list(_alternatives(pattern))
    return max(candidates, key=lambda texts: min(map(len, texts)), default=())


def _runs(pattern: str) -> Iterator[str]:
    run = ""
    for token, optional in _tokens(pattern):
        literal = token[1:] if token[0] == "\\" and not token[1].isalnum() else token
        if len(literal) == 1 and (literal not in META or token[0] == "\\") and not optional:
            run += literal
            continue
        if run:
            yield run
        run = ""
    if run:
        yield run


def _alternatives(pattern: str) -> Iterator[tuple[str, ...]]:
    """For each group that must match: one literal of every branch."""
    for token, optional in _tokens(pattern):
        if len(token) > 1 and token[0] == "(" and not optional and not token.startswith(NO_LITERAL):
            branches = [required_literals(branch) for branch in _branches(_inside(token))]
            if all(branches):
                yield tuple(literal for branch in branches for literal in branch)


def _inside(group: str) -> str:
    if group.startswith("(?P<"):
        return group[group.index(">") + 1 : -1]
    return group[group.index(":") + 1 : -1] if group.startswith("(?") else group[1:-1]


def _branches(inside: str) -> list[str]:
    branches = [""]
    for token, _ in _tokens(inside, keep_quantifiers=True):
        if token == "|":  # noqa: S105 (a token of a pattern)
            branches.append("")
        else:
            branches[-1] += token
    return branches


def _tokens(pattern: str, *, keep_quantifiers: bool = False) -> Iterator[tuple[str, bool]]:
    """Characters, escapes, classes and whole groups, each with whether it may be absent."""
    position = 0
    while position < len(pattern):
        end = _token_end(pattern, position)
        token = pattern[position:end]
        following = pattern[end : end + 1]
        if keep_quantifiers or token not in ("?", "*", "+"):
            yield token, bool(following) and following in QUANTIFIERS_OF_NOTHING
        position = end


def _token_end(pattern: str, position: int) -> int:
    match pattern[position]:
        case "\\":
            return position + 2
        case "[":
            return _class_end(pattern, position)
        case "{":
            return pattern.index("}", position) + 1
        case "(":
            return _group_end(pattern, position)
    return position + 1


def _class_end(pattern: str, position: int) -> int:
    position += 2 if pattern[position + 1] == "^" else 1
    first = position
    while pattern[position] != "]" or position == first:
        position += 2 if pattern[position] == "\\" else 1
    return position + 1


def _group_end(pattern: str, position: int) -> int:
    depth, position = 1, position + 1
    while depth:
        char = pattern[position]
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        position = _class_end(pattern, position) if char == "[" else position + (2 if char == "\\" else 1)
    return position
