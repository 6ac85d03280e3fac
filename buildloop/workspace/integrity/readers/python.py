"""Python tests by their syntax tree: what each asserts, what keeps it from running, what it replaces."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from buildloop.workspace.integrity.model import FileReading, Role, Unit
from buildloop.workspace.integrity.readers.python_asserts import read_body
from buildloop.workspace.integrity.readers.python_names import (
    assignments,
    called,
    constant_truth,
    derived_classes,
    is_skip_call,
    literals_in,
    string_of,
)
from buildloop.workspace.integrity.readers.syntax import parse_python

Function = ast.FunctionDef | ast.AsyncFunctionDef
SETUP_NAMES = frozenset(
    "setUp setUpClass tearDown asyncSetUp setup setup_method setup_class setup_module setup_function setUpModule "
    "setUpTestData".split()
)
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
PATCHERS = ("patch", "setattr", "setitem", "delattr", "object", "multiple", "dict", "replace")
MODULE = "<module>"


def read_python(file: str, text: str) -> FileReading | None:
    """None where it is no Python."""
    tree = parse_python(text)
    if tree is None:
        return None
    units: dict[str, Unit] = {}
    outer = assignments(
        ast.Module([one for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign)], [])
    )
    for name, function, marks in _functions(tree.body, "", frozenset()):
        units[name] = _unit(file, name, function, marks, outer)
    units[MODULE] = _module(file, tree)
    functions = {node.name for node in ast.walk(tree) if isinstance(node, Function)}
    functions |= {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return FileReading(tuple(units.values()), frozenset(functions), derived_classes(tree))


def _functions(
    body: list[ast.stmt], prefix: str, inherited: frozenset[str]
) -> Iterator[tuple[str, Function, frozenset[str]]]:
    """Functions that exist when the module is loaded, with the marks of what stands around them."""
    for node in body:
        if isinstance(node, Function):
            yield prefix + node.name, node, inherited | _marks(node.decorator_list)
        elif isinstance(node, ast.ClassDef):
            marks = inherited | _marks(node.decorator_list) | _marks_assigned(node.body)
            marks |= frozenset() if _collected_class(node) or prefix else {"not a test class"}
            yield from _functions(node.body, f"{prefix}{node.name}.", marks)
        elif isinstance(node, ast.If):
            truth = constant_truth(node.test)
            under = inherited if truth else inherited | {f"only if {ast.unparse(node.test)}"}
            if truth is not False:
                yield from _functions(node.body, prefix, under)
            if truth is not True:
                yield from _functions(node.orelse, prefix, inherited)
        elif isinstance(node, ast.Try):
            yield from _functions(node.body, prefix, inherited)


def _collected_class(node: ast.ClassDef) -> bool:
    return node.name.startswith("Test") or bool(node.bases)


def _unit(
    file: str, name: str, node: Function, marks: frozenset[str], outer: dict[str, list[ast.expr]]
) -> Unit:
    body = read_body(node, outer)
    role = _role(node)
    if any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in ast.walk(node)) and role is Role.TEST:
        marks |= {"a generator is not run"}
    marks |= frozenset(f"{call}()" for call in body.skips)
    marks |= frozenset(_empty_parameters(node))
    wrapped = frozenset(
        f"wrapped in @{ast.unparse(one)}"
        for one in node.decorator_list
        if isinstance(one, ast.Name) and role is Role.TEST
    )
    decorated = [part for one in node.decorator_list for part in _decorator_literals(one)]
    return Unit(
        file,
        name,
        role,
        body.assertions,
        (*decorated, *body.literals),
        marks - {"not a test class"} if role is not Role.TEST else marks | wrapped,
        frozenset(_patches(node)),
        body.calls | frozenset(_asked_fixtures(node)),
    )


def _asked_fixtures(node: Function) -> Iterator[str]:
    yield from (argument.arg for argument in node.args.args)
    for one in node.decorator_list:
        if isinstance(one, ast.Call) and called(one).endswith("usefixtures"):
            yield from (name for argument in one.args if (name := string_of(argument)))


def _role(node: Function) -> Role:
    if node.name.startswith("test"):
        return Role.TEST
    if node.name in SETUP_NAMES or any("fixture" in ast.unparse(one) for one in node.decorator_list):
        return Role.SETUP
    return Role.HELPER


def _module(file: str, tree: ast.Module) -> Unit:
    """What holds for the whole file: marks, what is not collected, module-level skips and replacements."""
    marks = set(_marks_assigned(tree.body))
    for node in tree.body:
        if isinstance(node, ast.Delete):
            marks |= {f"del {ast.unparse(target)}" for target in node.targets}
        marks |= {f"{name}()" for name in _skips_at_import(node)}
        for target in node.targets if isinstance(node, ast.Assign) else ():
            written = ast.unparse(target)
            if written.startswith("collect_ignore") or written.endswith("__test__"):
                marks.add(
                    f"{written} = {ast.unparse(node.value)}" if isinstance(node, ast.Assign) else written
                )
            if isinstance(target, ast.Name) and target.id.startswith("test"):
                marks.add(f"{target.id} is replaced")
    outside = ast.Module([node for node in tree.body if not isinstance(node, Function | ast.ClassDef)], [])
    tables = [
        node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
    ]
    data = [one for node in tables if not _steers_pytest(node) for one in literals_in(node)]
    script = ast.FunctionDef(
        MODULE, ast.arguments([], [], None, [], [], None, []), outside.body or [ast.Pass()], []
    )
    return Unit(
        file,
        MODULE,
        Role.HELPER,
        read_body(script).assertions,
        tuple(data),
        marks=frozenset(marks),
        patches=frozenset(_patches(outside)),
    )


def _steers_pytest(node: ast.stmt) -> bool:
    return ast.unparse(node).startswith(
        ("pytestmark", "pytest_plugins", "collect_ignore", "__all__", "__test__")
    )


def _skips_at_import(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, Function | ast.ClassDef):
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and is_skip_call(inner):
            yield called(inner)
        if isinstance(inner, ast.Raise) and inner.exc is not None and "Skip" in ast.unparse(inner.exc):
            yield ast.unparse(inner.exc).rstrip("()")


def _marks(decorators: list[ast.expr]) -> frozenset[str]:
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


def _marks_assigned(body: list[ast.stmt]) -> frozenset[str]:
    found: set[str] = set()
    for node in body:
        if not isinstance(node, ast.Assign):
            continue
        names = {ast.unparse(target) for target in node.targets}
        if "pytestmark" in names:
            values = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
            found |= set(_marks(list(values)))
        if "__test__" in names and constant_truth(node.value) is False:
            found.add("__test__ = False")
    return frozenset(found)


def _empty_parameters(node: Function) -> Iterator[str]:
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


def _decorator_literals(decorator: ast.expr) -> Iterator[str]:
    if isinstance(decorator, ast.Call) and called(decorator).endswith(
        ("parametrize", "expand", "example", "data", "unpack")
    ):
        start = 1 if called(decorator).endswith("parametrize") else 0
        for argument in decorator.args[start:]:
            yield from literals_in(argument)


def _patches(node: ast.AST) -> Iterator[str]:
    """Names that are replaced: `mock.patch("shop.cart.total")`, `monkeypatch.setattr(cart, "total", …)`, `cart.total = …`."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and called(inner).rpartition(".")[2] in PATCHERS and inner.args:
            owner = called(inner)
            if "patch" not in owner and not owner.endswith("setattr"):
                continue
            first = string_of(inner.args[0])
            second = string_of(inner.args[1]) if len(inner.args) > 1 else None
            yield first or f"{ast.unparse(inner.args[0])}.{second or '?'}"
        elif isinstance(inner, ast.Assign):
            for target in inner.targets:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name | ast.Attribute):
                    written = ast.unparse(target)
                    if not written.startswith(("self.", "cls.")) and not written.endswith("__test__"):
                        yield written
                elif isinstance(target, ast.Subscript) and ast.unparse(target.value) == "sys.modules":
                    yield string_of(target.slice) or "sys.modules"
