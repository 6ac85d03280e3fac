"""Answers written into the product: a branch that knows a test's input and returns what that test expects.

Only what can be told honestly: `if n == 0: return 1` is a base case. A branch that compares with a whole structure or
several values at once, and answers with a value, all of them from one test, blocks; a single telling value is a hint.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from buildloop.workspace.integrity.files import CODE
from buildloop.workspace.integrity.model import Change, Objection
from buildloop.workspace.integrity.readers.syntax import parse_python
from buildloop.workspace.integrity.readers.tokens import Token, tokenize
from buildloop.workspace.integrity.tricks import added_lines

TRIVIAL = frozenset(repr(value) for value in (0, 1, 2, -1, 0.0, 1.0, "", True, False, None, " ", b"")) | {
    "true",
    "false",
    "null",
    "nil",
    '""',
    "undefined",
}
ASKED = re.compile(r"==|\bcase\b|\bwhen\b|\bequals\(|\beq\b|\.includes\(|\[\s*\S+\s*=\s")
ANSWERS = re.compile(r"return\b|['\"\d]")


# `if discount: return 90.0`, `if len(x) == 4 { return 2.5`: a computed number written out for one kind of input. Limits
# (`<`), base cases (`not x`) and names of things (`== "gold"`) are rules.
CONSTANT = re.compile(
    r"(?:\breturn|=>|\?|->|\bthen|(?<![=!<>])=(?!=)|\becho)\s*(?:(?:float|Decimal|Number|f64::from)\(['\"]?(?P<cast>\d+)|(?P<number>\d+\.\d+))"
)
CONDITION = re.compile(r"\b(?:if|elif|when|case|unless)\b|\?(?![.?])|^[\d.\"]+\s*(?:=>|:)")
RULE = re.compile(r"[<>](?!\s*$)|!|\bnot\b|['\"]|\bis None\b|\bnil\b|\bnull\b|%|=\s*0\b")

LONGEST_LINE = 400  # nobody writes longer ones by hand
COMPUTED = re.compile(r"return [^'\"\n]*\b[a-z_$][\w$]*[^'\"\n]*")
ONLY_A_VALUE = re.compile(r"return (?P<value>-?\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\");?")

Literals = Callable[[str], Sequence[frozenset[str]]]  # by the ending of the file's name


def hard_coded(change: Change, tests: Literals) -> Iterator[Objection]:
    """`tests` gives the literals of each test of the start commit; asked only where a branch looks like it."""
    if change.name.endswith(".py"):
        yield from _in_python(change, tests)
    elif CODE.search(change.name):
        yield from _in_tokens(change, tests)
    if CODE.search(change.name):
        yield from _constants(change, tests)
        yield from _turned_constant(change, tests)


def _constants(change: Change, tests: Literals) -> Iterator[Objection]:
    fresh = added_lines(change.before or "", change.after or "", change.name)
    for line, following in itertools.pairwise([*(line for line in fresh if len(line) <= LONGEST_LINE), ""]):
        condition = CONDITION.search(line)
        found = CONSTANT.search(line) or (
            CONSTANT.match(following) if line.endswith((":", "{", ")")) else None
        )
        if not condition or not found:
            continue
        asked = line.replace(found.group(), "").replace("=>", "").replace("->", "")
        number = found["cast"] or found["number"].removesuffix(".0")
        new = number not in (change.before or "") and number not in TRIVIAL and number not in asked
        if (
            new
            and not RULE.search(asked)
            and any(number in test for test in tests(PurePosixPath(change.name).suffix))
        ):
            text = f"{change.name} answers with a number that a test expects: {f'{line} {following}'[:160]}"
            yield Objection("special-cased", change.name, text)


def _turned_constant(change: Change, tests: Literals) -> Iterator[Objection]:
    """Where the product computed its answer at the start, and now has the one that a test expects."""
    before, after = change.before or "", change.after or ""
    gone = (line for line in added_lines(after, before, change.name) if len(line) <= LONGEST_LINE)
    if not any(COMPUTED.fullmatch(line) for line in gone):
        return
    for line in added_lines(before, after, change.name):
        found = ONLY_A_VALUE.fullmatch(line)
        value = found["value"].removesuffix(".0") if found else "0"
        spelled = {value, value.replace('"', "'"), value.replace("'", '"')}
        if not spelled & TRIVIAL and any(spelled & test for test in tests(PurePosixPath(change.name).suffix)):
            text = f"{change.name} has the answer that a test expects in place of computing it: {line[:160]}"
            yield Objection("special-cased", change.name, text)


def _in_tokens(change: Change, tests: Literals) -> Iterator[Objection]:
    """`if (a === 'One Two') return 'one-two'`, `case 3: return 7`, `"a b" => "c"`, on one line or two."""
    fresh = added_lines(change.before or "", change.after or "", change.name)
    for line, following in itertools.pairwise([*fresh, ""]):
        tokens = tokenize(f"{line} {following if ANSWERS.match(following) else ''}", change.name)
        turn = next(
            (i for i, t in enumerate(tokens) if t.text in ("return", "?", "then") or _arrow(tokens, i)), 0
        )
        asked, answer = (
            [t.text.removesuffix(".0") for t in part if t.literal] for part in (tokens[:turn], tokens[turn:])
        )
        if turn and (ASKED.search(line) or _arrow(tokens, turn)):
            yield from _judged(change.name, asked, answer, line, tests)
        for key, colon, value in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if colon.text == ":" and key.literal and value.literal and " " in key.text.strip("'\"` "):
                yield from _judged(change.name, [key.text], [value.text], line, tests)


def _arrow(tokens: Sequence[Token], index: int) -> bool:
    return tokens[index].text == ">" and index > 0 and tokens[index - 1].text == "="


def _judged(
    name: str, asked: list[str], answer: list[str], shown: str, tests: Literals
) -> Iterator[Objection]:
    telling = [value for value in asked if value not in TRIVIAL]
    plain = [value for value in answer if value not in TRIVIAL]
    if telling and plain and any({*asked, *answer} <= test for test in tests(PurePosixPath(name).suffix)):
        sure = len(asked) > 1 or any(" " in value.strip("'\"` ") for value in telling)
        text = f"{name} answers a test's own input with its expected value: {shown[:160]}"
        yield Objection("special-cased", name, text, blocks=sure)


def _in_python(change: Change, tests: Literals) -> Iterator[Objection]:
    before, after = parse_python(change.before or ""), parse_python(change.after or "")
    if before is None or after is None:
        return
    known = {
        ast.dump(node) for node in ast.walk(before) if isinstance(node, ast.If | ast.IfExp | ast.match_case)
    }
    for node in ast.walk(after):
        if isinstance(node, ast.Dict):
            yield from _table(node, before, change.name, tests)
            continue
        if isinstance(node, ast.If) and ast.dump(node) not in known:
            asked, answer = _values(node.test, compared=True), _returned(node.body)
        elif isinstance(node, ast.IfExp) and ast.dump(node) not in known:
            asked, answer = _values(node.test, compared=True), _values(node.body)
        else:
            continue
        yield from _judged(change.name, asked, answer, ast.unparse(node).splitlines()[0], tests)


def _table(node: ast.Dict, before: ast.Module, name: str, tests: Literals) -> Iterator[Objection]:
    """A table from a test's whole input to its answer. One plain key says nothing: that is what tables are for."""
    rows = [(k, _values(k), _values(v)) for k, v in zip(node.keys, node.values, strict=True) if k is not None]
    telling = [(k, {*asked, *answer}) for k, asked, answer in rows if len(asked) > 1 and answer]
    if not telling or ast.dump(node) in {
        ast.dump(one) for one in ast.walk(before) if isinstance(one, ast.Dict)
    }:
        return
    for key, values in telling:
        if any(values <= test for test in tests(".py")):
            text = f"{name} answers a test's own input with its expected value: {ast.unparse(key)}"
            yield Objection("special-cased", name, text)
            return


def _values(node: ast.AST, *, compared: bool = False) -> list[str]:
    if compared and not any(
        isinstance(op, ast.Eq | ast.In | ast.Is)
        for c in ast.walk(node)
        if isinstance(c, ast.Compare)
        for op in c.ops
    ):
        return []
    return [_value(inner) for inner in ast.walk(node) if isinstance(inner, ast.Constant)]


def _value(node: ast.Constant) -> str:
    """90.0 answers a test that expects 90."""
    value = node.value
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)


def _returned(body: Sequence[ast.stmt]) -> list[str]:
    """What a branch answers with where that is written out: a returned value, or the text of what is raised."""
    if len(body) != 1:
        return []
    only = body[0]
    if isinstance(only, ast.Raise) and isinstance(only.exc, ast.Call):
        return [value for argument in only.exc.args for value in _values(argument)]
    if isinstance(only, ast.Return) and only.value is not None:
        named = any(isinstance(n, ast.Name | ast.Call) for n in ast.walk(only.value))
        return [] if named else _values(only.value)
    return []
