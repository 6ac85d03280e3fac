"""Where the tests of a file begin and end, in languages other than Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from buildloop.workspace.integrity.readers.line_blocks import Block, line_blocks
from buildloop.workspace.integrity.readers.tokens import Token, closing, tokenize, written

JS = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte)$")
LINE_BLOCKS = re.compile(r"\.(?:rb|exs?|bats|cr)$")
JS_TESTS = frozenset("it test specify fit xit ftest xtest bench".split())
JS_GROUPS = frozenset("describe suite context fdescribe xdescribe xcontext".split())
MODIFIERS = frozenset(
    "skip only todo failing fails fixme skipIf runIf concurrent sequential each for serial".split()
)
HARMLESS = frozenset({"concurrent", "sequential", "each", "for", "serial"})
OPTIONS = frozenset("skip only todo".split())
TEST_ATTRIBUTE = re.compile(
    r"\b(?:test|rstest|test_case|Test|ParameterizedTest|RepeatedTest|Fact|Theory|TestMethod|TestCase|quickcheck|proptest|wasm_bindgen_test)\b"
)
STOPPING_ATTRIBUTE = re.compile(
    r"\b(?:ignore|Ignore|Disabled\w*|should_panic|Skip|EnabledIf\w*|DisabledIf\w*|cfg|cfg_attr)\b"
)
MACRO = re.compile(r"^(?:TEST(?:_\w+)?|SCENARIO|TYPED_TEST\w*|Test)$")


def blocks_of(file: str, text: str, tokens: Sequence[Token]) -> list[Block]:
    """`tokens` are those of `text`."""
    if LINE_BLOCKS.search(file):
        return list(line_blocks(file, text))
    if JS.search(file):
        return list(_js(tokens, "", frozenset()))
    return list(_functions(file, tokens))


def _js(tokens: Sequence[Token], prefix: str, inherited: frozenset[str]) -> Iterator[Block]:
    index = 0
    while index < len(tokens):
        word = tokens[index].text
        if word == "if" and index + 1 < len(tokens) and tokens[index + 1].text == "(":
            end = closing(tokens, index + 1)
            under = inherited | {f"only if {written(tokens[index + 2 : end])}"}
            stop = (
                closing(tokens, end + 1)
                if end + 1 < len(tokens) and tokens[end + 1].text == "{"
                else _statement_end(tokens, end + 1)
            )
            yield from _js(tokens[end + 1 : stop + 1], prefix, under)
            index = stop + 1
            continue
        after_dot = index > 0 and tokens[index - 1].text in (".", "function")
        if after_dot or word not in JS_TESTS | JS_GROUPS:
            index += 1
            continue
        start, marks = index, set(inherited)
        if word[0] in "xf" and word not in ("for",):
            marks.add(word)
        index += 1
        table: Sequence[Token] = ()
        while index + 1 < len(tokens) and tokens[index].text == ".":
            modifier = tokens[index + 1].text
            marks |= {f".{modifier}"} if modifier in MODIFIERS - HARMLESS else set()
            index += 2
            if modifier in ("each", "for", "skipIf", "runIf") and index < len(tokens):
                if tokens[index].kind == "string":
                    table, index = tokens[index : index + 1], index + 1
                elif tokens[index].text == "(":
                    end = closing(tokens, index)
                    table, index = tokens[index:end], end + 1
        if index >= len(tokens) or tokens[index].text != "(":
            continue
        end = closing(tokens, index)
        inside = tokens[index + 1 : end]
        title = inside[0].text if inside and inside[0].kind == "string" else written(inside[:3])
        name = f"{prefix}{title.strip(chr(34) + chr(96) + chr(39))}"
        marks |= _options(inside)
        if word.lstrip("xf") in JS_GROUPS or word in JS_GROUPS:
            yield from _js(inside[1:], f"{name} > ", frozenset(marks))
        else:
            yield Block(
                name, True, frozenset(marks), (*table, *inside[1:]), title=inside[0] if inside else None
            )
        index = max(end, start) + 1


def _statement_end(tokens: Sequence[Token], start: int) -> int:
    index = start
    while index < len(tokens) and tokens[index].text != ";":
        if tokens[index].text in "([{" and tokens[index].kind == "other":
            index = closing(tokens, index)
            following = tokens[index + 1].text if index + 1 < len(tokens) else ";"
            if following not in ("(", ".", ";"):
                return index
        index += 1
    return index


def _options(inside: Sequence[Token]) -> set[str]:
    """`it('…', { skip: true }, () => …)`"""
    if len(inside) < 3 or inside[1].text != "," or inside[2].text != "{":
        return set()
    end = closing(inside, 2)
    if end + 1 < len(inside) and inside[end + 1].text != ",":
        return set()
    options = inside[3:end]
    return {
        f"{token.text}: {options[i + 2].text}"
        for i, token in enumerate(options[:-2])
        if token.text in OPTIONS and options[i + 1].text == ":" and options[i + 2].text != "false"
    }


def _functions(file: str, tokens: Sequence[Token]) -> Iterator[Block]:
    """Go, Rust, JVM, C and their kin: functions with a body, under the attributes before them."""
    attributes: list[str] = []
    groups: list[tuple[int, frozenset[str]]] = []
    index = 0
    while index < len(tokens):
        groups = [group for group in groups if group[0] > index]
        token = tokens[index]
        if (end := _attribute(tokens, index, file)) > index:
            attributes.append(written(tokens[index:end]))
            index = end
            continue
        if token.text in ("mod", "class", "impl", "interface", "describe") and (
            brace := _brace(tokens, index)
        ):
            marks = _stopping(attributes, group=True)
            groups.append((closing(tokens, brace), marks))
            attributes, index = [], brace + 1
            continue
        found = _definition(tokens, index, file)
        if found is not None:
            name, brace = found
            end = closing(tokens, brace)
            inherited = frozenset[str]().union(*(marks for _, marks in groups))
            test = _is_test(name, attributes, token.text, file)
            head = tokens[index:brace] if MACRO.match(token.text) else ()
            cases = [
                t
                for one in attributes
                if "case" in one.lower() or "Source" in one
                for t in tokenize(_cells(one) if "Csv" in one else one, file)
            ]
            disabled = frozenset({"DISABLED_"} if "DISABLED_" in name else ())
            yield Block(
                name,
                test,
                inherited | disabled | _stopping(attributes),
                (*cases, *head, *tokens[brace : end + 1]),
            )
            attributes, index = [], end + 1
            continue
        if token.text in (";", "}"):
            attributes = []
        index += 1


def _cells(attribute: str) -> str:
    """`"4, IV"` as the two values that the test is given."""
    rows = (row.split(",") for row in re.findall(r'"([^"]*)"', attribute))
    cells = (cell.strip() for row in rows for cell in row)
    return " ".join(cell if re.fullmatch(r"-?\d[\d.]*|true|false", cell) else f'"{cell}"' for cell in cells)


def _attribute(tokens: Sequence[Token], index: int, file: str) -> int:
    """Behind `#[…]`, `@Name(…)` or `[Fact]`; `index` itself where none stands here."""
    text = tokens[index].text
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if text == "#" and following in "[!":
        return closing(tokens, index + (1 if following == "[" else 2)) + 1
    if text.startswith("@") and len(text) > 1 and not file.endswith((".go", ".rs")):
        end = index + 1
        while end + 1 < len(tokens) and tokens[end].text == "." and tokens[end + 1].kind == "word":
            end += 2
        return closing(tokens, end) + 1 if end < len(tokens) and tokens[end].text == "(" else end
    if text == "[" and file.endswith(".cs") and TEST_ATTRIBUTE.match(following):
        return closing(tokens, index) + 1
    return index


def _definition(tokens: Sequence[Token], index: int, file: str) -> tuple[str, int] | None:
    """The name and opening brace of the function that starts here."""
    word = tokens[index].text
    if word in ("func", "fn", "fun", "function", "def"):
        start = index + 1
        if start < len(tokens) and tokens[start].text == "(":
            start = closing(tokens, start) + 1
        brace = _brace(tokens, start)
        return (tokens[start].text, brace) if start < len(tokens) and brace else None
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if tokens[index].kind != "word" or following != "(" or file.endswith((".go", ".rs")):
        return None
    end = closing(tokens, index + 1)
    brace = (
        _brace(tokens, end)
        if end + 1 < len(tokens) and tokens[end + 1].text in ("{", "throws", "const", "noexcept")
        else 0
    )
    if not brace or word in ("if", "for", "while", "switch", "catch", "synchronized"):
        return None
    return (written(tokens[index : end + 1]) if MACRO.match(word) else word, brace)


def _brace(tokens: Sequence[Token], start: int) -> int:
    """The `{` that opens the body, if it comes before the statement ends."""
    index = start
    while index < len(tokens):
        if tokens[index].text == "{":
            return index
        if tokens[index].text in (";", "}"):
            return 0
        index = closing(tokens, index) + 1 if tokens[index].text in ("(", "[") else index + 1
    return 0


def _is_test(name: str, attributes: Sequence[str], word: str, file: str) -> bool:
    if file.endswith(".go"):
        return bool(re.match(r"(?:Test(?!Main$)|Fuzz|Example|Benchmark)(?![a-z])", name))
    if any(TEST_ATTRIBUTE.search(one) and not one.startswith("# [ cfg") for one in attributes):
        return True
    return bool(MACRO.match(word)) or (name.startswith("test") and not file.endswith(".rs"))


def _stopping(attributes: Sequence[str], *, group: bool = False) -> frozenset[str]:
    usual = ("# [ cfg ( test ) ]",) if group else ()
    return frozenset(one for one in attributes if STOPPING_ATTRIBUTE.search(one) and one not in usual)
