"""Where an assertion begins and ends, in the words of JavaScript, Go, Rust, Ruby, the JVM, C++, shell."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.workspace.integrity.readers.meaning import ASSERTING
from buildloop.workspace.integrity.readers.tokens import CLOSE, OPEN, Token, closing

GO_FAILS = frozenset("Error Errorf Fatal Fatalf Fail FailNow".split())
OTHER_OWNERS = frozenset({"assert", "require", "t", "chai", "Assertions", "Assert", "sinon", "is"})


def assertion_end(tokens: Sequence[Token], index: int, file: str) -> int:  # noqa: PLR0911
    """Behind the assertion that starts here; 0 where none does."""
    token = tokens[index]
    previous = tokens[index - 1] if index else None
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if file.endswith((".bats", ".sh")):
        starts = previous is None or previous.line != token.line
        if starts and (
            token.text in ("[", "!", "test", "grep", "diff", "cmp") or ASSERTING.match(token.text)
        ):
            return next((i for i in range(index, len(tokens)) if tokens[i].line != token.line), len(tokens))
        return 0
    if token.kind != "word" or (
        previous is not None and previous.text == "." and not _own_dot(tokens, index)
    ):
        return 0
    go_fails = token.text in GO_FAILS and previous is not None and previous.text == "."
    if not go_fails and not ASSERTING.match(token.text):
        return 0
    if following not in ("(", ".", "!", "[") and not (file.endswith((".rb", ".exs", ".ex", ".t", ".cr"))):
        return 0
    if file.endswith((".rb", ".exs", ".ex", ".t", ".cr")):
        return _line_statement_end(tokens, index)
    position = index + 1
    while position < len(tokens):
        text = tokens[position].text
        if text in OPEN and tokens[position].kind == "other":
            position = closing(tokens, position) + 1
        elif text in (".", "!", "?") or (
            tokens[position - 1].text in (".", "?") and tokens[position].kind == "word"
        ):
            position += 1
        else:
            break
    return position


def excused(statement: Sequence[Token], file: str) -> bool:
    """`[ "$a" = b ] || true`"""
    texts = [token.text for token in statement]
    joined = "".join(texts)
    return (
        file.endswith((".bats", ".sh"))
        and "||" in joined
        and not {"fail", "false", "return", "exit"} & set(texts)
    )


def _own_dot(tokens: Sequence[Token], index: int) -> bool:
    return index > 1 and tokens[index - 2].text in OTHER_OWNERS | {
        "this",
        "self",
        "s",
        "suite",
        "c",
        "b",
        "tb",
    }


def _line_statement_end(tokens: Sequence[Token], index: int) -> int:
    depth = 0
    for position in range(index, len(tokens)):
        token = tokens[position]
        if position > index and depth == 0 and token.line != tokens[position - 1].line and token.text != ".":
            return position
        depth += (token.text in OPEN and token.kind == "other") - (
            token.text in CLOSE and token.kind == "other"
        )
    return len(tokens)
