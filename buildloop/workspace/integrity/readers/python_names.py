"""Small questions to a Python syntax tree: what is called, what a name holds, what is true in any case."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

SKIPS = ("skip", "skipTest", "xfail", "importorskip", "exit", "SkipTest")


def called(node: ast.AST) -> str:
    """The dotted name of what a call calls."""
    target = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(target) if isinstance(target, ast.Name | ast.Attribute) else ""


def string_of(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def constant_truth(node: ast.expr) -> bool | None:
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.Name) and node.id == "TYPE_CHECKING":
        return False
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = constant_truth(node.operand)
        return None if inner is None else not inner
    return None


def is_skip_call(node: ast.Call) -> bool:
    name = called(node)
    owner, _, last = name.rpartition(".")
    return (
        last in SKIPS
        and owner in ("pytest", "self", "unittest", "")
        and (bool(owner) or last in ("skip", "SkipTest", "importorskip"))
    )


def assignments(function: ast.AST) -> dict[str, list[ast.expr]]:
    """What each local name was made from."""
    flow: dict[str, list[ast.expr]] = {}

    def bind(target: ast.expr, value: ast.expr) -> None:
        for inner in ast.walk(target):
            if isinstance(inner, ast.Name):
                flow.setdefault(inner.id, []).append(value)

    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                bind(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
            bind(node.target, node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            bind(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            bind(node.optional_vars, node.context_expr)
    return flow


def is_empty(node: ast.expr) -> bool:
    """True whatever the code under test does."""
    if isinstance(node, ast.Tuple) and node.elts:
        return True
    if (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and not isinstance(node.ops[0], ast.NotEq | ast.IsNot | ast.NotIn)
    ):
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        if left == right and isinstance(node.ops[0], ast.Eq | ast.Is | ast.LtE | ast.GtE):
            return True
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return any(constant_truth(value) or is_empty(value) for value in node.values)
    if isinstance(node, ast.Call) and called(node) == "isinstance" and len(node.args) == 2:
        return ast.unparse(node.args[1]) == "object"
    return not any(isinstance(inner, ast.Name | ast.Call | ast.Attribute) for inner in ast.walk(node))


def reached(parts: list[ast.expr], flow: dict[str, list[ast.expr]]) -> Iterator[ast.AST]:
    """The nodes of the expressions and of everything local variables bring into them."""
    seen: set[str] = set()
    queue: list[ast.AST] = list(parts)
    while queue:
        for node in ast.walk(queue.pop()):
            yield node
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                queue += flow.get(node.id, [])


def types_of(kind: str, node: ast.expr) -> Iterator[str]:
    """The class of `isinstance` and `raises` is what they demand, as a whole: a wider one is another demand."""
    if kind == "isinstance" and isinstance(node, ast.Call) and len(node.args) == 2:
        yield ast.unparse(node.args[1])
    elif kind == "raises" and isinstance(node, ast.Call) and node.args:
        yield ast.unparse(node.args[0]).rpartition(".")[2]


def literals_of(function: ast.FunctionDef | ast.AsyncFunctionDef, messages: set[int]) -> Iterator[str]:
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    for statement in body:
        ignored = {id(i) for call in ast.walk(statement) for i in _patch_target(call)}
        for node in ast.walk(statement):
            if (
                isinstance(node, ast.Constant)
                and node.value is not ...
                and id(node) not in messages | ignored
            ):
                yield repr(node.value)


def _patch_target(node: ast.AST) -> Iterator[ast.AST]:
    """Names of modules are no data: they follow a refactoring."""
    if (
        isinstance(node, ast.Call)
        and node.args
        and called(node).rpartition(".")[2] in ("patch", "setattr", "import_module")
    ):
        yield from ast.walk(node.args[0])


def swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a failed assert ends here."""
    caught = ast.unparse(handler.type) if handler.type is not None else "BaseException"
    if (
        not any(word in caught for word in ("AssertionError", "Exception", "BaseException"))
        or "Exceptions." in caught
    ):
        return False
    return not any(
        isinstance(inner, ast.Raise) for inner in ast.walk(handler)
    ) and "fail(" not in ast.unparse(handler)


def kind_of(node: ast.expr) -> str:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        approx = [
            inner for inner in ast.walk(node) if called(inner).rpartition(".")[2] in ("approx", "isclose")
        ]
        loose = any(isinstance(call, ast.Call) and (call.keywords or len(call.args) > 1) for call in approx)
        return "approximately" if loose else type(node.ops[0]).__name__
    if isinstance(node, ast.Call):
        return called(node).rpartition(".")[2] or "call"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return "not"
    return "or" if isinstance(node, ast.BoolOp) else "true"


def computed(flow: Mapping[str, list[ast.expr]]) -> dict[str, list[ast.expr]]:
    """Without text that was only written in another form, as `'…'.strip()`: that is input, no answer."""
    return {
        name: [one for one in given if not (isinstance(one, ast.Call) and _on_a_literal(one))]
        for name, given in flow.items()
    }


def _on_a_literal(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant)


def derived_classes(tree: ast.Module) -> frozenset[tuple[str, str]]:
    """Each class with what it inherits from."""
    return frozenset(
        (node.name, ast.unparse(base).rpartition(".")[2])
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    )


def literals_in(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and inner.value is not ...:
            yield repr(inner.value)
