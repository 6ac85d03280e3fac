"""Answers written into the product: a branch that knows a test's input and returns what that test expects.

Only what can be told honestly: `if n == 0: return 1` is a base case. A branch that compares with a whole structure or
several values at once, and answers with a value, all of them from one test, blocks; a single telling value is a hint.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from buildloop.workspace.integrity.model import Change, Objection
from buildloop.workspace.integrity.readers.syntax import parse_python

TRIVIAL = frozenset(repr(value) for value in (0, 1, 2, -1, 0.0, 1.0, "", True, False, None, " ", b""))


Literals = Callable[[], Sequence[frozenset[str]]]


def hard_coded(change: Change, tests: Literals) -> Iterator[Objection]:
    """`tests` gives the literals of each test of the start commit; asked only where a branch looks like it."""
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
        if not asked or not answer or not any({*asked, *answer} <= test for test in tests()):
            continue
        telling = [value for value in asked if value not in TRIVIAL]
        plain = [value for value in answer if value not in TRIVIAL]
        sure = len(asked) > 1 and bool(telling) and bool(plain)
        if telling and plain:
            text = f"{change.name} answers a test's own input with its expected value: {ast.unparse(node).splitlines()[0]}"
            yield Objection("special-cased", change.name, text, blocks=sure)


def _table(node: ast.Dict, before: ast.Module, name: str, tests: Literals) -> Iterator[Objection]:
    """A table from a test's whole input to its answer. One plain key says nothing: that is what tables are for."""
    rows = [(k, _values(k), _values(v)) for k, v in zip(node.keys, node.values, strict=True) if k is not None]
    telling = [(k, {*asked, *answer}) for k, asked, answer in rows if len(asked) > 1 and answer]
    if not telling or ast.dump(node) in {
        ast.dump(one) for one in ast.walk(before) if isinstance(one, ast.Dict)
    }:
        return
    for key, values in telling:
        if any(values <= test for test in tests()):
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
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
        return (
            _values(body[0].value)
            if not any(isinstance(n, ast.Name | ast.Call) for n in ast.walk(body[0].value))
            else []
        )
    return []
