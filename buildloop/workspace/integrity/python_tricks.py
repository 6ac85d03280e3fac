"""Python that bends pytest or unittest, ends the process when it is loaded, or says yes to everything."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from buildloop.workspace.integrity.files import is_test
from buildloop.workspace.integrity.model import Change, Objection
from buildloop.workspace.integrity.readers.python_asserts import COMPARING
from buildloop.workspace.integrity.readers.python_names import called, constant_truth
from buildloop.workspace.integrity.readers.syntax import parse_python

HOOKS = frozenset(
    "pytest_collection_modifyitems pytest_runtest_makereport pytest_runtest_protocol pytest_runtest_call pytest_runtest_setup pytest_pyfunc_call pytest_ignore_collect "
    "pytest_collect_file pytest_collect_directory pytest_pycollect_makeitem pytest_sessionfinish pytest_unconfigure pytest_cmdline_main pytest_cmdline_preparse pytest_load_initial_conftests pytest_itemcollected "
    "pytest_report_teststatus pytest_runtest_logreport pytest_runtestloop pytest_collection pytest_collection_finish pytest_deselected pytest_generate_tests pytest_exception_interact pytest_assertion_pass "
    "pytest_configure pytest_sessionstart pytest_runtest_teardown pytest_terminal_summary pytest_fixture_setup pytest_make_parametrize_id load_tests".split()
)
OVERRIDDEN = frozenset(
    {
        *COMPARING,
        "assertTrue",
        "assertFalse",
        "assertRaises",
        "assertIsNone",
        "fail",
        "addFailure",
        "addError",
        "wasSuccessful",
    }
)
RUNNING = frozenset(
    "run __call__ _callTestMethod failureException defaultTestResult debug countTestCases".split()
)
PLAIN_VALUES = frozenset("int float str bytes bool complex list tuple dict set Decimal Fraction".split())
EQUALITY = frozenset({"__eq__", "__ne__"})
MEDDLING = re.compile(
    r"\bskip|xfail|deselect|\.remove\(|\.pop\(|\.clear\(|\[:\]\s*=|outcome|exitstatus|force_result|\.passed|_exit|sys\.exit|\bdel \b|return True|return 0|setattr|testsfailed|config\.option|\.option\.|items\s*=|\.filter|monkeypatch"
)


def python_tricks(change: Change) -> list[Objection]:
    after, before = parse_python(change.after or ""), parse_python(change.before or "") or ast.Module([], [])
    if after is None:
        return []
    known = {
        ast.dump(node) for node in ast.walk(before) if isinstance(node, ast.FunctionDef | ast.Expr | ast.If)
    }
    found = []
    for node in ast.walk(after):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and ast.dump(node) not in known:
            found += list(_function_trick(node, change.name))
    for node in ast.walk(after):
        if isinstance(node, ast.ClassDef) and any("TestCase" in ast.unparse(base) for base in node.bases):
            found += [
                one for one in _bent_test_case(node, change.name) if one.text not in (change.before or "")
            ]
    found += _own_equality(before, after, change.name)
    for statement in _at_import(after.body):
        if ast.dump(statement) not in known and _ends_process(statement):
            found.append(
                Objection(
                    "exit",
                    change.name,
                    f"{change.name} ends the process when it is loaded: {ast.unparse(statement)[:120]}",
                )
            )
    return found


def _own_equality(before: ast.Module, after: ast.Module, name: str) -> Iterator[Objection]:
    """A number or text that decides itself what it equals answers any test; honest values keep their equality."""
    known = {ast.dump(node) for node in ast.walk(before) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(after):
        if not isinstance(node, ast.ClassDef) or ast.dump(node) in known:
            continue
        plain = sorted({ast.unparse(base) for base in node.bases} & PLAIN_VALUES)
        own = [part.name for part in node.body if isinstance(part, ast.FunctionDef) and part.name in EQUALITY]
        if plain and own:
            text = f"{name}: {node.name} is a {plain[0]} with an equality of its own ({own[0]})"
            yield Objection("special-cased", name, text)


def _function_trick(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Iterator[Objection]:
    text = ast.unparse(node)
    if node.name == "load_tests" or (node.name in HOOKS and (MEDDLING.search(text) or _writes_results(node))):
        yield Objection("runner", name, f"{name} bends the test runner ({node.name})")
    if node.name in ("__eq__", "__ne__", "__contains__", "__bool__") and node.name != "__bool__":
        body = [s for s in node.body if not isinstance(s, ast.Expr)]
        if (
            len(body) == 1
            and isinstance(body[0], ast.Return)
            and body[0].value is not None
            and constant_truth(body[0].value)
        ):
            yield Objection("special-cased", name, f"{name}: {node.name} says yes to everything")
    if node.name in OVERRIDDEN and is_test(name):
        yield Objection("runner", name, f"{name} redefines the test runner's own {node.name}")
    if "fixture" in " ".join(ast.unparse(one) for one in node.decorator_list) and "autouse=True" in " ".join(
        ast.unparse(one) for one in node.decorator_list
    ):
        replaced = [
            c
            for c in ast.walk(node)
            if isinstance(c, ast.Call) and called(c).rpartition(".")[2] in ("setattr", "patch", "object")
        ]
        for call in replaced:
            target = ast.unparse(call.args[0]) if call.args else ""
            if not re.match(
                r"['\"]?(?:time|datetime|random|os|socket|requests|httpx|uuid|logging|secrets)\b", target
            ):
                yield Objection(
                    "replaced", name, f"{name}: the fixture {node.name} replaces {target} for every test"
                )
        if re.search(r"pytest\.(?:skip|xfail|exit)\(", text):
            yield Objection("skipped", name, f"{name}: the fixture {node.name} skips tests")


def _writes_results(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A hook that assigns to what it was handed: the outcome, the call, the test."""
    given = {argument.arg for argument in node.args.args} - {"config", "parser", "session"}
    targets = [target for one in ast.walk(node) if isinstance(one, ast.Assign) for target in one.targets]
    return any(
        ast.unparse(one).partition(".")[0] in given for one in targets if isinstance(one, ast.Attribute)
    )


def _bent_test_case(node: ast.ClassDef, name: str) -> Iterator[Objection]:
    """A test case that runs or fails in a way of its own."""
    for part in node.body:
        targets = part.targets if isinstance(part, ast.Assign) else ()
        names = {part.name} if isinstance(part, ast.FunctionDef) else {ast.unparse(one) for one in targets}
        for own in sorted(names & RUNNING):
            yield Objection("runner", name, f"{name}: {node.name} redefines the test runner's own {own}")


def _at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If):
            if "__name__" not in ast.unparse(node.test):
                yield from _at_import(node.body)
                yield from _at_import(node.orelse)
        elif isinstance(node, ast.Try | ast.With):
            yield from _at_import(node.body)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def _ends_process(node: ast.stmt) -> bool:
    calls = [called(inner) for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    if isinstance(node, ast.Raise) and node.exc is not None and "SystemExit" in ast.unparse(node.exc):
        return True
    return any(name in ("sys.exit", "exit", "quit", "os._exit", "os.abort", "pytest.exit") for name in calls)
