"""Tests as their files state them: one reader for Python, one for everything that is read by tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

from buildloop.workspace.integrity.model import FileReading, Role, Unit
from buildloop.workspace.integrity.readers.assertion_ends import GO_FAILS
from buildloop.workspace.integrity.readers.blocks import JS, JS_GROUPS, JS_TESTS, blocks_of
from buildloop.workspace.integrity.readers.line_blocks import Block
from buildloop.workspace.integrity.readers.python import MODULE, read_python
from buildloop.workspace.integrity.readers.statements import assertions_in
from buildloop.workspace.integrity.readers.tokens import Token, closing, tokenize

SKIP_CALL = re.compile(
    r"^(?:skip\w*|Skip\w*|SkipNow|pending|markTestSkipped|markTestIncomplete|XCTSkip|GTEST_SKIP|assumeTrue|assumeThat|assumeFalse|todo|plan_skip_all)$"
)
MOCKING = re.compile(
    r"^(?:mock|doMock|unstable_mockModule|stubGlobal|spyOn|and_return|proxyquire|rewiremock|stub)$"
)
SPEAKING = (
    GO_FAILS
    | JS_TESTS
    | JS_GROUPS
    | {
        "only",
        "skip",
        "todo",
        "Log",
        "Logf",
        "Run",
        "describe",
        "context",
        "require",
        "import",
        "from",
        "mock",
        "unmock",
        "doMock",
        "log",
        "println",
    }
)
SETUP_CALLS = frozenset("beforeEach beforeAll before let subject setup setUp TestMain".split())
JS_OWN_JUDGE = re.compile(
    r"^\s*(?:const|let|var)\s+(assert|expect|should)\s*=(?!\s*(?:require|chai|await import))", re.M
)
PHP_STOPPING = re.compile(r"@(?:requires|doesNotPerformAssertions)\b.*")
PREPROCESSED = re.compile(r"\.(?:c|cc|cpp|cxx|cs|swift)$")
JS_FUNCTION = re.compile(
    r"^\s*(?:export\s+)?(?:async\s+)?(?:function\s+|(?:const|let|var)\s+(?=\w+\s*=\s*(?:async\s*)?(?:\(|function)))(\w+)",
    re.M,
)

__all__ = ["MODULE", "read_file"]


def read_file(file: str, text: str) -> FileReading | None:
    """The tests, fixtures and helpers of one file; None where its text cannot be read as code."""
    if file.endswith(".py"):
        return read_python(file, text)
    units: dict[str, Unit] = {}
    if PREPROCESSED.search(file):
        text = re.sub(r"^\s*#\s*if\s+(?:0|false)\b.*?^\s*#\s*(?:endif|else)", "", text, flags=re.M | re.S)
    tokens = tokenize(text, file)
    blocks = blocks_of(file, text, tokens)
    for block in blocks:
        name = block.name
        while name in units:  # two tests of one title are two tests
            name += "'"
        units[name] = _unit(file, name, block)
    units[MODULE] = _module(file, text, tokens, blocks)
    named = {b.name for b in blocks if not b.is_test} | set(
        JS_FUNCTION.findall(text) if JS.search(file) else ()
    )
    named |= set(JS_OWN_JUDGE.findall(text)) if JS.search(file) else set()
    named |= set(re.findall(r"\bmacro_rules!\s*(\w+)", text))
    derived = re.findall(r"\bclass\s+(\w+)\s*(?:extends|<|:)\s*([\w.:]+)", text)
    return FileReading(
        tuple(units.values()),
        frozenset(named),
        frozenset((one, base.split(".")[-1]) for one, base in derived),
    )


def _unit(file: str, name: str, block: Block) -> Unit:
    tokens = block.tokens
    role = Role.TEST if block.is_test else (Role.SETUP if name in SETUP_CALLS else Role.HELPER)
    calls = {t.text for i, t in enumerate(tokens[:-1]) if t.kind == "word" and tokens[i + 1].text == "("}
    return Unit(
        file,
        name,
        role,
        tuple(assertions_in(tokens, file)),
        tuple(_data(tokens)),
        block.marks | frozenset(_skips(tokens, file)),
        frozenset(_mocks(tokens)),
        frozenset(calls),
    )


def _module(file: str, text: str, whole: Sequence[Token], blocks: Sequence[Block]) -> Unit:
    """What stands outside of the tests: set-up, tables of cases, replaced modules, conditions of the whole file."""
    inside = {id(token) for block in blocks for token in (*block.tokens, block.title)}
    lines = {line for block in blocks for line in block.lines}
    outside = [token for token in whole if id(token) not in inside and token.line not in lines]
    marks = set(re.findall(r"^//\s*(?:go:build|\+build).*$", text, re.M)) if file.endswith(".go") else set()
    marks |= set(re.findall(r"^#!\[(?:cfg|ignore).*$", text, re.M)) if file.endswith(".rs") else set()
    marks |= set(PHP_STOPPING.findall(text)) if file.endswith(".php") else set()
    marks |= set(re.findall(r"^\s*#\s*if.*$", text, re.M)) if PREPROCESSED.search(file) else set()
    marks |= set(_skips(outside, file)) if not file.endswith((".go", ".rs")) else set()
    return Unit(
        file,
        MODULE,
        Role.HELPER,
        tuple(assertions_in(whole, file)) if not blocks else (),
        tuple(_data(outside)),
        frozenset(marks),
        frozenset(_mocks(whole)) if not blocks else frozenset(_mocks(outside)),
    )


def _data(tokens: Sequence[Token]) -> list[str]:
    """Literals that are data: no titles, messages, names of modules."""
    found: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        following = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if token.text in SPEAKING and following == "(":
            end = closing(tokens, index + 1)
            first = next((i for i in range(index + 1, end) if tokens[i].text == ","), end)
            index = end if token.text in GO_FAILS | {"Log", "Logf", "log", "println"} else first
        elif token.text in (
            "from",
            "import",
            "require",
            "require_relative",
            "use",
            "package",
        ) and index + 1 < len(tokens):
            index += 1
        elif token.literal:
            found.append(token.text)
        index += 1
    return found


def _skips(tokens: Sequence[Token], file: str) -> list[str]:
    found = []
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if not SKIP_CALL.match(token.text):
            continue
        before = tokens[index - 1] if index else None
        modifier = (
            index > 1
            and before is not None
            and before.text == "."
            and tokens[index - 2].text in JS_TESTS | JS_GROUPS
        )
        called = following is not None and following.text == "(" and not modifier
        alone = file.endswith((".rb", ".bats", ".exs")) and (
            before is None
            or before.line != token.line
            or before.text in ("|", "&", ";", "{", "then", "do", "else")
        )
        if called or alone:
            found.append(f"{token.text}()")
    return found


def _mocks(tokens: Sequence[Token]) -> list[str]:
    """`jest.mock('../src/a')`, `allow(line).to receive(:next_up)`: what is replaced."""
    found = []
    for index, token in enumerate(tokens[:-2]):
        if MOCKING.match(token.text) and tokens[index + 1].text == "(":
            found.append(tokens[index + 2].text)
        elif token.text in ("receive", "receive_messages") and tokens[index + 1].text == "(":
            found.append("".join(t.text for t in tokens[index + 2 : index + 4]))
    return found
