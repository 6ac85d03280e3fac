"""What keeps a Python test from running: marks, assignments, skips at import, parameters that are none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from buildloop.workspace.integrity.readers.python_names import called, constant_truth, is_skip_call, string_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
STOPPING_MARKS = (
    "skip",
    "skipif",
    "xfail",
    "skipIf",
    "skipUnless",
    "expectedFailure",
    "expected_failure",
    "ignore",
)


def skips_at_import(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, Function | ast.ClassDef):
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and is_skip_call(inner):
            yield called(inner)
        if isinstance(inner, ast.Raise) and inner.exc is not None and "Skip" in ast.unparse(inner.exc):
            yield ast.unparse(inner.exc).rstrip("()")


def marks_of(decorators: list[ast.expr]) -> frozenset[str]:
    return frozenset(mark for one in decorators for mark in _mark(one))


def _mark(decorator: ast.expr) -> Iterator[str]:
    name = called(decorator) if isinstance(decorator, ast.Call) else ast.unparse(decorator)
    if name.rpartition(".")[2] in STOPPING_MARKS:
        conditions = (
            [ast.unparse(argument) for argument in decorator.args if string_of(argument) is None]
            if isinstance(decorator, ast.Call)
            else []
        )
        yield f"{name.rpartition('.')[2]}({', '.join(conditions)})"


def marks_assigned(body: list[ast.stmt]) -> frozenset[str]:
    found: set[str] = set()
    for node in body:
        if not isinstance(node, ast.Assign):
            continue
        names = {ast.unparse(target) for target in node.targets}
        if "pytestmark" in names:
            values = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
            found |= set(marks_of(list(values)))
        if "__test__" in names and constant_truth(node.value) is False:
            found.add("__test__ = False")
    return frozenset(found)


def empty_parameters(node: Function) -> Iterator[str]:
    for one in node.decorator_list:
        if isinstance(one, ast.Call) and called(one).endswith("parametrize") and len(one.args) > 1:
            values = one.args[1]
            if isinstance(values, ast.List | ast.Tuple) and not values.elts:
                yield "parametrize with no values"
            if isinstance(values, ast.List | ast.Tuple):
                skipped = sum(
                    1 for value in values.elts if any(m in ast.unparse(value) for m in (".skip", ".xfail"))
                )
                if skipped:
                    yield f"{skipped} parameters skipped"
