"""What one Python function demands: asserts, unittest's methods and `raises`, told by what they really check."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from buildloop.workspace.integrity.model import Assertion
from buildloop.workspace.integrity.readers.meaning import SMOOTHING
from buildloop.workspace.integrity.readers.python_names import (
    assignments,
    called,
    computed,
    constant_truth,
    is_empty,
    is_skip_call,
    kind_of,
    literals_of,
    reached,
    swallows,
    types_of,
)

# unittest's words in the terms of plain asserts.
COMPARING = {
    "assertEqual": ast.Eq, "assertEquals": ast.Eq, "assertListEqual": ast.Eq, "assertDictEqual": ast.Eq, "assertIs": ast.Is,
    "assertSetEqual": ast.Eq, "assertTupleEqual": ast.Eq, "assertSequenceEqual": ast.Eq, "assertMultiLineEqual": ast.Eq,
    "assertNotEqual": ast.NotEq, "assertIsNot": ast.IsNot, "assertIn": ast.In, "assertNotIn": ast.NotIn, "assertGreater": ast.Gt,
    "assertGreaterEqual": ast.GtE, "assertLess": ast.Lt, "assertLessEqual": ast.LtE,
}  # fmt: skip
RAISING = (
    "raises",
    "warns",
    "assertRaises",
    "assertRaisesRegex",
    "assertWarns",
    "assertWarnsRegex",
    "assertLogs",
)
BUILTIN = frozenset(
    "len str int float bool list dict set tuple sorted type repr isinstance abs round sum min max any all".split()
)


@dataclass(slots=True)
class Body:
    assertions: tuple[Assertion, ...] = ()
    literals: tuple[str, ...] = ()
    skips: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Walk:
    flow: dict[str, list[ast.expr]] = field(default_factory=dict)
    found: list[Assertion] = field(default_factory=list)
    messages: set[int] = field(default_factory=set)


def read_body(
    function: ast.FunctionDef | ast.AsyncFunctionDef, outer: Mapping[str, list[ast.expr]] | None = None
) -> Body:
    """`outer` is what the names of the module hold."""
    walk = _Walk(flow={**(outer or {}), **assignments(function)})
    parameters = [
        inner
        for one in function.decorator_list
        if isinstance(one, ast.Call) and called(one).endswith(("parametrize", "expand"))
        for argument in one.args[1 if called(one).endswith("parametrize") else 0 :]
        for inner in [argument]
    ]
    for argument in function.args.args:
        walk.flow.setdefault(argument.arg, []).extend(parameters)
    _statements(function.body, walk, conditional=False)
    if not function.name.startswith("test"):  # a fixture may hand out what asserts
        for inner in function.body:
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                _statements(inner.body, walk, conditional=False)
    skips = {called(node) for node in ast.walk(function) if isinstance(node, ast.Call) and is_skip_call(node)}
    skips |= {
        "SkipTest"
        for node in ast.walk(function)
        if isinstance(node, ast.Raise) and node.exc and "SkipTest" in ast.unparse(node.exc)
    }
    calls = {called(node).rpartition(".")[2] for node in ast.walk(function) if isinstance(node, ast.Call)}
    return Body(
        tuple(walk.found), tuple(literals_of(function, walk.messages)), frozenset(skips), frozenset(calls)
    )


def _statements(body: list[ast.stmt], walk: _Walk, *, conditional: bool) -> bool:
    """Collect the assertions in order; True when nothing after these statements is surely reached."""
    for node in body:
        if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
            _failing(node, walk)
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and is_skip_call(node.value):
            return True
        conditional = _statement(node, walk, conditional) or conditional
    return False


def _statement(node: ast.stmt, walk: _Walk, conditional: bool) -> bool:
    if isinstance(node, ast.Assert):
        if node.msg is not None:
            walk.messages |= {id(inner) for inner in ast.walk(node.msg)}
        _demand(node.test, walk, conditional)
    elif isinstance(node, ast.Expr):
        _expression(node.value, walk, conditional)
    elif isinstance(node, ast.If):
        truth = constant_truth(node.test)
        ended = truth is not False and _statements(node.body, walk, conditional=conditional or truth is None)
        if truth is not True:
            _statements(node.orelse, walk, conditional=True)
        return ended
    elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
        empty = (
            isinstance(node, ast.For) and isinstance(node.iter, ast.List | ast.Tuple) and not node.iter.elts
        )
        never = isinstance(node, ast.While) and constant_truth(node.test) is False
        if not empty and not never:
            _statements(node.body, walk, conditional=conditional)
    elif isinstance(node, ast.With | ast.AsyncWith):
        return _with(node, walk, conditional)
    elif isinstance(node, ast.Try):
        swallowed = any(swallows(handler) for handler in node.handlers)
        if not swallowed:
            _statements(node.body, walk, conditional=conditional)
        for handler in node.handlers:
            _statements(handler.body, walk, conditional=True)
        _statements([*([] if swallowed else node.orelse), *node.finalbody], walk, conditional=conditional)
    return False


def _with(node: ast.With | ast.AsyncWith, walk: _Walk, conditional: bool) -> bool:
    for item in node.items:
        name = called(item.context_expr).rpartition(".")[2]
        if name == "suppress" and any(
            w in ast.unparse(item.context_expr) for w in ("AssertionError", "Exception")
        ):
            return False
        if name in RAISING:
            _keep("raises", item.context_expr, [item.context_expr, *_inner(node.body)], walk, conditional)
    if any(_expects_failure(item.context_expr) for item in node.items):
        return False
    return _statements(node.body, walk, conditional=conditional)


def _expects_failure(node: ast.expr) -> bool:
    """Asserts in here are meant to fail."""
    return called(node).rpartition(".")[2] in RAISING and "AssertionError" in ast.unparse(node)


def _inner(body: list[ast.stmt]) -> list[ast.expr]:
    return [part.value for part in body if isinstance(part, ast.Expr)]


def _failing(node: ast.stmt, walk: _Walk) -> None:
    if isinstance(node, ast.Raise) and node.exc is not None and "AssertionError" in ast.unparse(node.exc):
        walk.found.append(Assertion("fail", "raise AssertionError", conditional=False))


def _expression(node: ast.expr, walk: _Walk, conditional: bool) -> None:
    node = node.value if isinstance(node, ast.Await) else node
    if not isinstance(node, ast.Call):
        return
    name = called(node).rpartition(".")[2]
    if not name and isinstance(node.func, ast.Attribute):
        name = node.func.attr
    if name in COMPARING and len(node.args) >= 2:
        walk.messages |= {id(i) for extra in node.args[2:] for i in ast.walk(extra)}
        _demand(ast.Compare(node.args[0], [COMPARING[name]()], [node.args[1]]), walk, conditional)
    elif (
        name in ("assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone", "assertIsInstance")
        and node.args
    ):
        _demand(_as_expression(name, node), walk, conditional)
    elif name in RAISING:
        _keep("raises", node, [node], walk, conditional)
    elif name == "fail":
        walk.found.append(Assertion("fail", "fail()", conditional=False))
    elif name.lower().startswith(
        ("assert", "check", "verify", "expect", "ensure", "validate", "should", "compare")
    ):
        _keep("helper", node, [node], walk, conditional, helper=name)
    elif isinstance(node.func, ast.Name) and name not in BUILTIN:
        _keep("call", node, [node], walk, conditional, helper=name)


def _as_expression(name: str, node: ast.Call) -> ast.expr:
    first = node.args[0]
    nothing = ast.Constant(None)
    return {
        "assertTrue": first,
        "assertFalse": ast.UnaryOp(ast.Not(), first),
        "assertIsNone": ast.Compare(first, [ast.Is()], [nothing]),
        "assertIsNotNone": ast.Compare(first, [ast.IsNot()], [nothing]),
        "assertIsInstance": ast.Call(ast.Name("isinstance", ast.Load()), node.args[:2], []),
    }[name]


def _demand(node: ast.expr, walk: _Walk, conditional: bool) -> None:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            _demand(value, walk, conditional)
        return
    _keep(kind_of(node), node, [node], walk, conditional, empty=is_empty(node))


def _keep(
    kind: str,
    shown: ast.expr,
    parts: list[ast.expr],
    walk: _Walk,
    conditional: bool,
    *,
    empty: bool = False,
    helper: str = "",
) -> None:
    nodes = list(reached(parts, walk.flow))
    literals = [
        repr(n.value)
        for n in nodes
        if isinstance(n, ast.Constant) and n.value is not ... and id(n) not in walk.messages
    ]
    literals += [f"type {name}" for name in types_of(kind, shown)]
    roots = {called(n).rpartition(".")[2] or _attribute(n) for n in nodes if isinstance(n, ast.Call)}
    direct = {
        called(n).rpartition(".")[2] or _attribute(n)
        for n in reached([shown], computed(walk.flow))
        if isinstance(n, ast.Call)
    }
    walk.found.append(
        Assertion(
            kind,
            ast.unparse(shown),
            tuple(sorted(literals)),
            frozenset(roots - BUILTIN - {""}),
            conditional,
            empty,
            helper,
            frozenset(direct & SMOOTHING),
        )
    )


def _attribute(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""
