"""Code that turns the run green without the tests' consent: early exits, a runner bent or shadowed, code that asks
whether it is being tested."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from buildloop.workspace.integrity.files import CODE, is_collected, is_test
from buildloop.workspace.integrity.model import Change, Objection
from buildloop.workspace.integrity.readers.python_asserts import COMPARING
from buildloop.workspace.integrity.readers.python_names import called, constant_truth
from buildloop.workspace.integrity.readers.syntax import parse_python

ASKS = re.compile(
    r"PYTEST_CURRENT_TEST|PYTEST_VERSION|[\"'](?:pytest|unittest|_pytest|nose)[\"']\s*in\s|sys\.(?:orig_)?argv\[0\].*(?:pytest|test)|\bpytest\b.*\bin\b.*sys\.(?:modules|argv|orig_argv)"
    r"|sys\.modules\.get\([\"'](?:pytest|unittest)|NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST(?:_WORKER_ID)?\b|NODE_ENV\W{1,8}test\b|npm_lifecycle_event|MOCHA_\w+"
    r"|testing\.Testing\(\)|flag\.Lookup\([\"']test\.|os\.Args\[0\].*\.test|\.test[\"']\)|cfg!\(test\)|cfg\(not\(test\)\)|cfg_attr\(test|RSPEC_|defined\?\((?:RSpec|Minitest)|BATS_TEST|BATS_VERSION|CARGO_TARGET_TMPDIR"
    r"|inspect\.stack\(\).*test|_getframe\(.*test|isRunningTest|RUNNING_TESTS|is_testing\(\)|XCTestConfigurationFilePath|typeof\s+(?:jest|describe|it)\b|globalThis\.(?:jest|describe|expect)|env::args\(\)|current_exe\(\).*test"
)
OWN_ARGUMENTS = re.compile(r"env::args\(\)")
EXITS = re.compile(
    r"\bos\._exit\(|\bos\.kill\(os\.getpid|\bpytest\.exit\(|process\.exitCode\s*=\s*0|process\.reallyExit|\bexit!\s*\(?0?|at_exit\s*(?:do|\{)|process\.on\(\s*['\"]exit|libc::_exit|syscall\.Exit\(0|Runtime\.getRuntime\(\)\.halt\(0"
)
TOP_EXITS = re.compile(r"process\.exit\(\s*0?\s*\)|\bsys\.exit\(\s*0?\s*\)|\bDeno\.exit\(")
GO_MAIN = re.compile(r"func TestMain\b|func init\(\)[^}]*os\.Exit", re.S)
EQUALS_ALL = re.compile(
    r"fn eq\(&self[^)]*\)\s*->\s*bool\s*\{\s*true\s*\}|boolean equals\(Object \w+\)\s*\{\s*return true|def ==\(\w+\)\s*\n?\s*true|override fun equals\([^)]*\)\s*=\s*true"
)
VARIABLES = re.compile(
    r"\b(?:PYTEST_ADDOPTS|PYTEST_PLUGINS|NODE_OPTIONS|GOFLAGS|RUBYOPT|PERL5OPT|LD_PRELOAD|BASH_ENV|JAVA_TOOL_OPTIONS|PYTHONSTARTUP|SURELOGIC|RUSTC_WRAPPER|MAKEFLAGS|CARGO_TARGET_\w+_RUNNER)\b"
)
SETUP_FILE = re.compile(
    r"(?:^|/)(?:setup|noxfile|conftest|tasks|[^/]*config[^/]*|manage|build|gulpfile|Gruntfile)\.\w+$|(?:^|/)(?:scripts?|tools?|ci|benchmarks?)/"
)
PROSE = re.compile(
    r"\.(?:md|rst|txt|adoc|lock|sum|svg|csv)$|(?:^|/)(?:LICENSE|CHANGELOG|README)[^/]*$|-lock\.(?:json|yaml)$"
)

MOCKED_FILE = re.compile(
    r"\b(?:jest|vi|vitest|mock|td)\.(?:mock|doMock|module|unstable_mockModule|replace|replaceEsm)\(\s*['\"`](?:\.|src|@/|~)"
)
SHADOWS = re.compile(
    r"(?:^|/)(?:pytest|unittest|_pytest|nose2?|doctest|mock|hypothesis|sitecustomize|usercustomize|pluggy|coverage)(?:\.py|/__init__\.py|/__main__\.py)$|\.pth$|(?:^|/)node_modules/"
)
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
READS_TESTS = re.compile(
    r"(?:open|read\w*|load\w*|require|import\w*|include\w*|Path|join)\b.*['\"/](?:tests?|specs?|__tests__|__snapshots__|testdata)[/'\"]",
    re.I,
)
MEDDLING = re.compile(
    r"\bskip|xfail|deselect|\.remove\(|\.pop\(|\.clear\(|\[:\]\s*=|outcome|exitstatus|force_result|\.passed|_exit|sys\.exit|\bdel \b|return True|return 0|setattr|testsfailed|config\.option|\.option\.|items\s*=|\.filter|monkeypatch"
)


def tricks_in(change: Change) -> list[Objection]:
    after = change.after
    if after is None or PROSE.search(change.name):
        return []
    found = list(_shadowing(change))
    fresh = added_lines(change.before or "", after, change.name)
    found += _by_lines(change, fresh)
    if change.name.endswith(".py"):
        found += _python(change)
    elif CODE.search(change.name):
        found += _others(change, after, fresh)
    return found


def added_lines(before: str, after: str, name: str) -> list[str]:
    """Lines that were not there before, without comments."""
    left = Counter(line.strip() for line in before.splitlines())
    found = []
    for line in after.splitlines():
        bare = line.strip()
        if left[bare] > 0:
            left[bare] -= 1
        elif bare and not bare.startswith(
            ("//", "* ", "/*") if not name.endswith((".py", ".rb", ".sh")) else ("#",)
        ):
            found.append(bare)
    return found


def _shadowing(change: Change) -> Iterator[Objection]:
    if change.status in "AR" and SHADOWS.search(change.name):
        yield Objection(
            "shadowed",
            change.name,
            f"{change.name} stands in for a part of the test runner or is loaded before it",
        )


def _by_lines(change: Change, fresh: list[str]) -> Iterator[Objection]:
    code = bool(CODE.search(change.name))
    for line in fresh:
        shown = line[:120]
        asks = code and not is_test(change.name) and ASKS.search(line)
        if asks and not (
            OWN_ARGUMENTS.fullmatch(asks.group()) and "contains" not in line and "test" not in line
        ):
            yield Objection(
                "special-cased", change.name, f"{change.name} asks whether it is being tested: {shown}"
            )
        if (
            code
            and not is_test(change.name)
            and READS_TESTS.search(line)
            and not SETUP_FILE.search(change.name)
        ):
            yield Objection("special-cased", change.name, f"{change.name} reads files of the tests: {shown}")
        if code and EXITS.search(line):
            yield Objection(
                "exit", change.name, f"{change.name} ends the process or changes its exit code: {shown}"
            )
        if VARIABLES.search(line) and not change.name.endswith((".py", ".js", ".ts")) | ("environ" in line):
            yield Objection(
                "config", change.name, f"{change.name} changes how the test runner is started: {shown}"
            )


def _python(change: Change) -> list[Objection]:
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


def _function_trick(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Iterator[Objection]:
    text = ast.unparse(node)
    if node.name == "load_tests" or (node.name in HOOKS and MEDDLING.search(text)):
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


def _others(change: Change, after: str, fresh: list[str]) -> Iterator[Objection]:
    if EQUALS_ALL.search(after) and not EQUALS_ALL.search(change.before or ""):
        yield Objection("special-cased", change.name, f"{change.name}: an equality says yes to everything")
    if (
        change.name.endswith("_test.go")
        and GO_MAIN.search(after)
        and not GO_MAIN.search(change.before or "")
        and not re.search(
            r"os\.Exit\(\s*(?:m\.Run\(\)|code|exitCode|status|rc|ret\w*|result|exit)\s*\)", after
        )
    ):
        yield Objection("exit", change.name, f"{change.name}: TestMain decides the exit code itself")
    script = (
        after.startswith("#!")
        or "require.main" in after
        or "import.meta.main" in after
        or is_command(change.name)
    )
    for line in fresh:
        if MOCKED_FILE.search(line) and not is_collected(change.name):
            yield Objection(
                "replaced", change.name, f"{change.name} replaces the code under test: {line[:120]}"
            )
        if TOP_EXITS.search(line) and (is_test(change.name) or not script) and _at_top(after, line):
            yield Objection(
                "exit", change.name, f"{change.name} ends the process when it is loaded: {line[:120]}"
            )


def is_command(name: str) -> bool:
    return PurePosixPath(name).stem in ("cli", "main", "index", "bin", "server") or "/bin/" in f"/{name}"


def _at_top(text: str, line: str) -> bool:
    """Whether the line stands outside of every function: as many braces closed as opened before it."""
    before = text[: text.find(line)]
    return before.count("{") <= before.count("}") or bool(
        re.search(r"process\.(?:on|once)\([^\n]*$", before[-80:])
    )
