"""What a block of tokens demands: assertions in the words of JavaScript, Go, Rust, Ruby, the JVM, C++, shell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from buildloop.workspace.integrity.model import Assertion
from buildloop.workspace.integrity.readers.assertion_ends import GO_FAILS, assertion_end, excused
from buildloop.workspace.integrity.readers.meaning import (
    ASSERTING,
    EQUALITY,
    SMOOTHING,
    always_true,
    flow_of,
    with_flow,
)
from buildloop.workspace.integrity.readers.swallowed import left_early, swallowed_parts
from buildloop.workspace.integrity.readers.tokens import CLOSE, OPEN, Token, closing, written

NOT_CALLED = frozenset(
    "if for while switch return function func fn match catch expect assert new typeof await not".split()
)


def assertions_in(tokens: Sequence[Token], file: str) -> list[Assertion]:
    flow = flow_of(_without_messages(tokens))
    found: list[Assertion] = []
    swallowed = swallowed_parts(tokens)
    index = 0
    while index < len(tokens):
        end = assertion_end(tokens, index, file)
        if end == 0:
            index += 1
            continue
        statement = tokens[index:end]
        if any(index in one for one in swallowed) or excused(statement, file):
            index = end
            continue
        found.append(
            _assertion(statement, _condition(tokens, index, statement), flow, _reached(tokens, index, file))
        )
        index = end
    return [one for one in found if one.kind] + _helper_calls(tokens, flow)


def _without_messages(tokens: Sequence[Token]) -> list[Token]:
    """What `t.Errorf(…)` in a loop's body says is no value that the loop works with."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        says = tokens[index].text in GO_FAILS and index > 0 and tokens[index - 1].text == "."
        if says and index + 1 < len(tokens) and tokens[index + 1].text == "(":
            index = closing(tokens, index + 1)
        else:
            kept.append(tokens[index])
        index += 1
    return kept


def _helper_calls(tokens: Sequence[Token], flow: Mapping[str, Sequence[Token]]) -> list[Assertion]:
    """Calls that stand alone: they demand what the helper demands, if it is one of the tests' own."""
    found = []
    for index, token in enumerate(tokens[:-1]):
        starts = (
            index == 0 or tokens[index - 1].text in (";", "{", "}") or tokens[index - 1].line != token.line
        )
        if token.kind != "word" or not starts or tokens[index + 1].text != "(" or token.text in NOT_CALLED:
            continue
        if ASSERTING.match(token.text):
            continue
        statement = tokens[index : closing(tokens, index + 1) + 1]
        one = _assertion(statement, (), flow, True)
        found.append(replace(one, kind="call", helper=token.text, empty=False))
    return found


def _condition(tokens: Sequence[Token], index: int, statement: Sequence[Token]) -> Sequence[Token]:
    """For `if got != want { t.Errorf(…) }` the demand is in the `if`."""
    if statement[0].text not in GO_FAILS | {"fail"}:
        return ()
    for start in range(index - 1, -1, -1):
        if tokens[start].text != "if":
            continue
        brace = _first_brace(tokens, start)
        if brace and brace < index <= closing(tokens, brace):
            return tokens[start:brace]
    return ()


def _first_brace(tokens: Sequence[Token], start: int) -> int:
    """The one that opens the branch: `{1, 2}` in a call's arguments is a value."""
    depth = 0
    for index in range(start, len(tokens)):
        text = tokens[index].text if tokens[index].kind == "other" else ""
        if text == "{" and depth == 0:
            return index
        depth += (text in ("(", "[")) - (text in (")", "]"))
    return 0


def _reached(tokens: Sequence[Token], index: int, file: str) -> bool:
    """Whether nothing ends the block before: a bare `return` that stands in it, not in a branch or function inside."""
    opened = 1 if tokens and tokens[0].text == "{" else 0
    if opened == 0 and re.search(r"\.[cm]?[jt]sx?$", file):
        opened = 1
    depth = 0
    for position in range(index):
        token, following = tokens[position], tokens[position + 1]
        if token.kind == "other" and token.text in "{}":
            depth += 1 if token.text == "{" else -1
        bare = following.text in (";", "}") or following.line != token.line
        if token.text == "return" and bare and depth <= opened:
            return False
    return not left_early(tokens, index)


def _assertion(
    statement: Sequence[Token], condition: Sequence[Token], flow: Mapping[str, Sequence[Token]], reached: bool
) -> Assertion:
    parts = _demanded(condition or statement)
    seen = list(with_flow(parts, flow))
    chain = [t.text for i, t in enumerate(statement) if t.kind == "word" and _at_top(statement, i)]
    kind = "fails" if condition else EQUALITY.sub("equals", ".".join(chain[:6])) or "check"
    if condition:
        kind = "fails if " + " ".join(
            t.text
            for t in condition[_asked_from(condition) :]
            if t.text in ("!", "=", "<", ">", "==", "!=", "&", "|")
        )
    roots = {
        token.text
        for i, token in enumerate(seen[:-1])
        if token.kind == "word"
        and seen[i + 1].text == "("
        and token.text not in NOT_CALLED
        and not ASSERTING.match(token.text)
    }
    own = {statement[0].text} if re.match(r"(?:check|verify|ensure)", statement[0].text) else set()
    literals = sorted(token.text for token in seen if token.literal)
    exact = written((*condition, *statement[:1]) if condition else statement)
    return Assertion(
        kind,
        exact,
        tuple(literals),
        frozenset(roots - {*chain, "to", "not_to", "be", "eq"} | own),
        not reached,
        always_true(parts) or _asks_itself(condition, flow),
        smoothed=frozenset(
            token.text for i, token in enumerate(seen[:-1]) if seen[i + 1].text in ("(", ".", ")")
        )
        & SMOOTHING,
    )


def _asks_itself(condition: Sequence[Token], flow: Mapping[str, Sequence[Token]]) -> bool:
    """`got != Count(text)` where got is Count(text)."""
    first = _asked_from(condition)
    at = next(
        (
            i
            for i in range(first, len(condition) - 1)
            if condition[i].text in "!=" and condition[i + 1].text == "="
        ),
        0,
    )
    if not at:
        return False
    left, right = condition[first:at], condition[at + 2 :]
    if len(left) == 1 and left[0].text in flow:
        left = flow[left[0].text]
    return bool(left) and written(left) == written(right)


def _asked_from(condition: Sequence[Token]) -> int:
    """Go's `if got := Count(text); got != 3` asks behind the semicolon; before it stands where the answer comes from."""
    return max((i for i, t in enumerate(condition) if t.text == ";"), default=0) + 1


def _demanded(statement: Sequence[Token]) -> Sequence[Token]:
    """Without the message: the arguments after the second of an equality, after the first of `assert!`."""
    limit = {"assert_eq": 2, "assert_ne": 2, "assert": 1}.get(statement[0].text.rstrip("!"))
    rust = any(token.text == "!" for token in statement[1:2]) or statement[0].text.endswith("!")
    if limit is None or not rust:
        return statement
    depth = commas = 0
    for index, token in enumerate(statement):
        if token.kind == "other" and token.text in OPEN:
            depth += 1
        elif token.kind == "other" and token.text in CLOSE:
            depth -= 1
        commas += token.text == "," and depth == 1
        if commas == limit:
            return statement[:index]
    return statement


def _at_top(statement: Sequence[Token], index: int) -> bool:
    depth = 0
    for token in statement[:index]:
        if token.kind == "other":
            depth += (token.text in OPEN) - (token.text in CLOSE)
    return depth == 0
