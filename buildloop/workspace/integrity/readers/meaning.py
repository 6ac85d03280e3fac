"""What tokens of a test mean: which words assert, what a variable holds, what is true in any case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from buildloop.workspace.integrity.readers.tokens import CLOSE, OPEN, Token, closing, written

ASSERTING = re.compile(
    r"^(?:assert\w*|expect\w*|EXPECT_\w+|ASSERT_\w+|XCT\w+|CHECK\w*|REQUIRE\w*|SUBCASE|verify\w*|should\w*|refute\w*|must_\w+|ensure\w*|check\w*|matches|is|ok|like|is_deeply|cmp_ok)[?!]?$"
)
EQUALITY = re.compile(
    r"\b(?:toBe|toEqual|toStrictEqual|equal|equals|strictEqual|deepEqual|deepStrictEqual|eql?|eq|assertEquals?|assertSame|"
    r"assert_equal|Equal|EqualValues|Exactly|assertThat|isEqualTo|is|EXPECT_EQ|ASSERT_EQ)\b"
)

# Laid over an answer before it is compared, these make different answers look alike.
SMOOTHING = frozenset(
    "strip lstrip rstrip lower upper casefold replace sorted set frozenset round int abs bool trunc floor ceil normalize "
    "trim trimStart trimEnd toLowerCase toUpperCase replaceAll sort toFixed toSorted Boolean Number parseInt "
    "TrimSpace ToLower ToUpper Trim to_lowercase to_uppercase downcase upcase squish uniq dedup sort_unstable "
    "toLower equalsIgnoreCase assertEqualsIgnoringCase EqualFold eq_ignore_ascii_case slice substring startswith "
    "startsWith endswith endsWith HasPrefix HasSuffix starts_with ends_with split get setdefault nan_to_num".split()
)


def always_true(parts: Sequence[Token]) -> bool:
    """`assert!(true)`, `expect(1).toBe(1)`, `assert.equal(x, x)`: true whatever the code does."""
    inner = [
        t
        for t in parts
        if t.kind in ("word", "number", "string")
        and not ASSERTING.match(t.text)
        and not EQUALITY.match(t.text)
    ]
    named = [
        t
        for t in inner
        if t.kind == "word"
        and not t.literal
        and t.text not in ("toBeTruthy", "toBeDefined", "assert", "to", "be", "ok")
    ]
    if not named and parts and any(t.text in OPEN for t in parts):
        return bool(inner) and not any("$" in token.text for token in inner)
    start = next((i for i, t in enumerate(parts) if t.text == "("), None)
    if start is None:
        return False
    arguments = _split(parts[start + 1 : closing(parts, start)])
    after = parts[closing(parts, start) + 1 :]
    if (len(arguments) >= 2 and EQUALITY.search(".".join(t.text for t in parts[:start]))) or parts[
        0
    ].text.startswith("assert_eq"):
        return len(arguments) >= 2 and arguments[0] == arguments[1]
    second = next((i for i, t in enumerate(after) if t.text == "("), None)
    if second is not None and arguments and EQUALITY.search(".".join(t.text for t in after[:second])):
        return (
            "not" not in [t.text for t in after]
            and _split(after[second + 1 : closing(after, second)])[:1] == arguments[:1]
        )
    return False


def _split(tokens: Sequence[Token]) -> list[str]:
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == "other":
            depth += (token.text in OPEN) - (token.text in CLOSE)
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [written(part) for part in parts]


def flow_of(tokens: Sequence[Token]) -> dict[str, list[Token]]:
    """What each local variable was made from: `const a = …`, `a := …`, `let mut a = …`, `a = …`."""
    found: dict[str, list[Token]] = {}
    for index, token in enumerate(tokens[:-2]):
        if token.kind != "word":
            continue
        after = tokens[index + 1].text + (tokens[index + 2].text if tokens[index + 1].text == ":" else "")
        if after not in ("=", ":=") or (after == "=" and tokens[index + 2].text in ("=", ">", "~")):
            continue
        start = index + (3 if after == ":=" else 2)
        depth, position = 0, start
        while position < len(tokens):
            one = tokens[position]
            if depth == 0 and (
                one.text == ";"
                or (position > start and one.line != tokens[position - 1].line and one.text not in ".?")
            ):
                break
            if one.kind == "other":
                depth += (one.text in OPEN) - (one.text in CLOSE)
                if depth < 0:
                    break
            position += 1
        found.setdefault(token.text, []).extend(tokens[start:position])
    return found


def with_flow(parts: Sequence[Token], flow: Mapping[str, Sequence[Token]]) -> Iterator[Token]:
    seen: set[str] = set()
    queue: list[Sequence[Token]] = [parts]
    while queue:
        for token in queue.pop():
            yield token
            if token.kind == "word" and token.text in flow and token.text not in seen:
                seen.add(token.text)
                queue.append(flow[token.text])
