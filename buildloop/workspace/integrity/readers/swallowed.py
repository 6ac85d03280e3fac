"""Parts of a test that may not be reached, or whose failures nobody hears of."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.workspace.integrity.readers.tokens import CLOSE, OPEN, Token, closing

# Words that fail at once: they stand in the branch that asks.
FAILING = frozenset("Error Errorf Fatal Fatalf Fail FailNow fail".split())
RETHROWING = frozenset({"throw", "fail", "assert", "expect", "done", "reject", "ok"})


def swallowed_parts(tokens: Sequence[Token]) -> list[range]:
    """Where a failed assertion is caught and forgotten."""
    found = []
    for index, token in enumerate(tokens[:-1]):
        if token.text != "try" or tokens[index + 1].text != "{":
            continue
        end = closing(tokens, index + 1)
        after = end + 1
        if after < len(tokens) and tokens[after].text == "catch":
            brace = next((i for i in range(after, len(tokens)) if tokens[i].text == "{"), after)
            handled = {t.text for t in tokens[brace : closing(tokens, brace)]}
            if not handled & RETHROWING:
                found.append(range(index, end))
    return found + _detached(tokens)


def _detached(tokens: Sequence[Token]) -> list[range]:
    """Where nobody waits for what fails: a promise that is dropped or whose error is caught, a panic that is caught."""
    found = []
    for index, token in enumerate(tokens[:-1]):
        following = tokens[index + 1].text
        previous = tokens[index - 1].text if index else ";"
        if (
            token.text
            in ("catch_unwind", "setTimeout", "setImmediate", "queueMicrotask", "nextTick", "spawn")
            and following == "("
        ):
            end = closing(tokens, index + 1)
            waited = {t.text for t in tokens[index:end]} & {"done", "resolve", "reject"}
            joined = {t.text for t in tokens[end:]} & {"join", "unwrap", "is_err", "is_ok", "resume_unwind"}
            if not waited and not joined:
                found.append(range(index + 1, end))
        elif token.text == "(" and following == "async" and previous in (";", "{", "}", "void"):
            found.append(range(index, closing(tokens, index)))
        elif token.text == "catch" and previous == "." and following == "(":
            end = closing(tokens, index + 1)
            if not {t.text for t in tokens[index:end]} & RETHROWING:
                start = max(
                    (
                        i
                        for i in range(index)
                        if tokens[i].text in ("=>", "async") or tokens[i].text in (";",)
                    ),
                    default=0,
                )
                found.append(range(_chain_start(tokens, index, start), index))
    return found


def _chain_start(tokens: Sequence[Token], index: int, otherwise: int) -> int:
    """Where the expression begins on whose end `.catch(…)` hangs: brackets are stepped over backwards."""
    position = index - 2
    while position >= 0:
        if tokens[position].text in CLOSE and tokens[position].kind == "other":
            depth = 0
            while position >= 0:
                depth += (tokens[position].text in CLOSE) - (tokens[position].text in OPEN)
                if depth == 0:
                    break
                position -= 1
        elif tokens[position].text in (";", "{", "}", "=", ","):
            return position + 1
        position -= 1
    return otherwise


def left_early(tokens: Sequence[Token], index: int) -> bool:
    """Whether the assertion at `index` may be passed by: it stands in a branch itself, or a `return` or `continue` in
    one comes before; or the test says that it is done before it asks."""
    open_blocks: list[tuple[int, bool]] = []
    exits: list[list[int]] = []
    for position in range(index):
        token = tokens[position]
        if token.kind == "other" and token.text == "{":
            open_blocks.append((position, _is_branch(tokens, position)))
        elif token.kind == "other" and token.text == "}" and open_blocks:
            open_blocks.pop()
        elif token.text == "done" and tokens[position + 1].text == "(" and tokens[position + 2].text == ")":
            exits.append([place for place, _ in open_blocks])
        elif token.text in ("return", "continue") and open_blocks and open_blocks[-1][1]:
            around = list(open_blocks)
            while around and around[-1][1]:
                around.pop()
            exits.append([place for place, _ in around])
    here = [place for place, _ in open_blocks]
    in_branch = bool(open_blocks) and open_blocks[-1][1] and tokens[index].text not in FAILING
    return in_branch or any(here[: len(around)] == around for around in exits)


def _is_branch(tokens: Sequence[Token], brace: int) -> bool:
    """`if … {` and `else {`: not a loop, not a function."""
    start = brace
    while start > 0 and tokens[start - 1].line == tokens[brace].line:
        start -= 1
    words = [token.text for token in tokens[start:brace] if token.text != "}"]
    return bool(words) and words[0] in ("if", "else") and words[-1] != ">"
