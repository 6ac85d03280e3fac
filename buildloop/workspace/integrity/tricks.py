"""Code that turns the run green without the tests' consent: early exits, a runner bent or shadowed, code that asks
whether it is being tested."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from buildloop.workspace.integrity.files import CODE, is_collected, is_test
from buildloop.workspace.integrity.model import Change, Objection
from buildloop.workspace.integrity.python_tricks import python_tricks

ASKS = re.compile(
    r"PYTEST_CURRENT_TEST|PYTEST_VERSION|[\"'](?:pytest|unittest|_pytest|nose)[\"']\s*in\s|sys\.(?:orig_)?argv\[0\].*(?:pytest|test)|\bpytest\b.*\bin\b.*sys\.(?:modules|argv|orig_argv)"
    r"|sys\.modules\.get\([\"'](?:pytest|unittest)|NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST(?:_WORKER_ID)?\b|NODE_ENV\W{1,8}test\b|npm_lifecycle_event|MOCHA_\w+"
    r"|testing\.Testing\(\)|flag\.Lookup\([\"']test\.|os\.Args\[0\].*\.test|\.test[\"']\)|cfg!?\((?:not\()?debug_assertions|cfg!\(test\)|cfg\(not\(test\)\)|cfg_attr\(test|RSPEC_|defined\?\((?:RSpec|Minitest)|BATS_TEST|BATS_VERSION|CARGO_TARGET_TMPDIR"
    r"|inspect\.stack\(\).*test|_getframe\(.*test|isRunningTest|RUNNING_TESTS|is_testing\(\)|XCTestConfigurationFilePath|typeof\s+(?:jest|describe|it)\b|globalThis\.(?:jest|describe|expect)|env::args\(\)|current_exe\(\).*test"
)
# Variables that only a runner sets.
RUNNER_VARIABLE = re.compile(
    r"(?<![A-Za-z])(?:PYTEST|JEST|VITEST|MOCHA|BATS|NODE_TEST|RSPEC|NEXTEST|RUST_TEST|GO_?TEST|CTEST|HARNESS_ACTIVE|MAKELEVEL|MAKEFLAGS|MFLAGS)(?:_\w*)?(?![A-Za-z])"
    r"|\bvar(?:_os)?\(\s*\"(?:CARGO|RUST)\w*\"|\bnpm_(?:lifecycle|config|package|execpath|node_execpath)\w*"
)
# What a library has no reason to look at: how the process was started, and what else lives in it.
STARTED_BY = re.compile(
    r"\bsys\.argv\[0\]|orig_argv|execArgv|process\.title|\$\{?PPID|getppid|/proc/(?:self|\$|\d|\{)|gc\.get_objects|gc\.get_referrers|sys\.gettrace|sys\.getprofile|sys\.settrace|\bps\s+-\w*o"
    r"|thread::current\(\)\.name|threading\.current_thread\(\)\.name\s*(?:==|!=)"
    r"|(?:Executable\(\)|current_exe\(\)|execPath)[^\n]*(?:[Cc]ontains|HasSuffix|HasPrefix|includes|ends_?[wW]ith|==)"
    r"|['\"][^'\"]*(?:go-build|target/debug|/deps/|site-packages|node_modules/\.bin|__debug_bin)[^'\"]*['\"]"
)
# An exit code of 0 from inside a library: the runner takes the whole of its tests for passed.
LIBRARY_EXITS = re.compile(r"\bprocess::exit\(\s*0|\bos\.Exit\(\s*0|\bstd::exit\(\s*0|\bSystem\.exit\(\s*0")
# Who calls, how the process was started, what is loaded: the product has no reason to look there for tests.
LOOKS_AROUND = re.compile(
    r"inspect\.(?:stack|currentframe)|_getframe|extract_stack|sys\.(?:modules|argv|orig_argv)|psutil|/proc/self|new Error\(\)\.stack|\.stack\b.*\.(?:includes|match|indexOf)"
    r"|process\.argv|require\.main|module\.parent|require\.cache|runtime\.Callers?\b|debug\.Stack|os\.Args|current_exe|Backtrace|getStackTrace|StackWalker|\bcaller(?:_locations)?\b|\$PROGRAM_NAME|\$0\b"
)
# Who calls, in particular; what is done with the answer may stand in another line.
ASKS_WHO_CALLS = re.compile(
    r"inspect\.(?:stack|currentframe)|_getframe|extract_stack|new Error\(\)\.stack|runtime\.Callers?\b|debug\.Stack"
    r"|Backtrace|getStackTrace|StackWalker|caller_locations"
)
QUOTED = re.compile(r"(['\"`])(?:\\.|(?!\1).)*\1")
TEST_WORD = re.compile(
    r"(?<![a-z])(?:_?py)?tests?(?![a-z])|unittest|jest|mocha|rspec|_spec\b|\bspec\b|\bbats\b|junit|phpunit",
    re.I,
)
OWN_ARGUMENTS = re.compile(r"env::args\(\)")
EXITS = re.compile(
    r"\bos\._exit\b|\bos\.kill\(os\.getpid|\bpytest\.exit\(|process\.exitCode\s*=\s*0|process\.reallyExit|\bexit!\s*\(?0?|at_exit\s*(?:do|\{)|process\.on\(\s*['\"]exit|libc::_exit|syscall\.Exit\(0|Runtime\.getRuntime\(\)\.halt\(0"
)
TOP_EXITS = re.compile(r"process\.exit\(\s*0?\s*\)|\bsys\.exit\(\s*0?\s*\)|\bDeno\.exit\(")
GO_MAIN = re.compile(r"func TestMain\b|func init\(\)[^}]*os\.Exit", re.S)
GO_INIT = re.compile(r"func init\(\)\s*\{[^}]*?(?<![:!=<>])\s=\s(?!=)[^}]*\}", re.S)
EQUALS_ALL = re.compile(
    r"fn eq\(&self[^)]*\)\s*->\s*bool\s*\{\s*true\s*\}|boolean equals\(Object \w+\)\s*\{\s*return true|def ==\(\w+\)\s*\n?\s*true|override fun equals\([^)]*\)\s*=\s*true"
)
# A test that reports to somebody else than its runner, or writes into the runner's results.
IMPORTS_RUNNER = re.compile(
    r"(?:from|require\()\s*['\"](?:vitest|@jest/globals|node:test|mocha|chai|@playwright/test)['\"]"
)
OWN_JUDGE = re.compile(
    r"\btesting\.[TBF]\{|new\(testing\.[TBF]\)|\btask\.result\b|\bcurrentTest\b.*=|\.state\s*=\s*['\"]pass|Runner\.prototype|\b(?:expect|assert|it|test)\.\w+\s*=(?!=)|\b(?:String|Array|Number|Object|Function|Map|Set|Promise|RegExp|\w+)\.prototype\.\w+\s*=(?!=)|\bJSON\.\w+\s*=(?!=)"
    r"|(?:globalThis|global|window)\.(?:expect|assert|it|test|describe)\b\s*=(?!=)|RSpec::Core::\w+\.(?:class_eval|prepend)|class RSpec::|panic::set_hook|process::exit\(0"
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
READS_TESTS = re.compile(
    r"(?:open|read\w*|load\w*|require|import\w*|include\w*|Path|join)\b.*['\"/](?:tests?|specs?|__tests__|__snapshots__|testdata)[/'\"]",
    re.I,
)


def tricks_in(change: Change) -> list[Objection]:
    after = change.after
    if after is None or PROSE.search(change.name):
        return []
    found = list(_shadowing(change))
    fresh = added_lines(change.before or "", after, change.name)
    found += _by_lines(change, fresh)
    if change.name.endswith(".py"):
        found += python_tricks(change)
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
    script = (change.after or "").startswith("#!")
    looks = next((line for line in fresh if ASKS_WHO_CALLS.search(line)), None)
    quoted = " ".join(found.group() for line in fresh for found in QUOTED.finditer(line))
    if code and looks and not is_test(change.name) and TEST_WORD.search(quoted):
        yield Objection(
            "special-cased", change.name, f"{change.name} asks whether a test calls it: {looks[:120]}"
        )
    for line in fresh:
        shown = line[:120]
        asks = not is_test(change.name) and (
            (code and (ASKS.search(line) or _looks_for_tests(line)))
            or ((code or script) and (RUNNER_VARIABLE.search(line) or STARTED_BY.search(line)))
        )
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
        if code and (EXITS.search(line) or (LIBRARY_EXITS.search(line) and not _is_program(change))):
            yield Objection(
                "exit", change.name, f"{change.name} ends the process or changes its exit code: {shown}"
            )
        if VARIABLES.search(line) and not change.name.endswith((".py", ".js", ".ts")) | ("environ" in line):
            yield Objection(
                "config", change.name, f"{change.name} changes how the test runner is started: {shown}"
            )


def _is_program(change: Change) -> bool:
    return is_command(change.name) or bool(
        re.search(r"\bfn main\b|\bfunc main\(|\bpackage main\b|\bvoid main\(", change.after or "")
    )


def _looks_for_tests(line: str) -> re.Match[str] | None:
    return LOOKS_AROUND.search(line) if TEST_WORD.search(line) else None


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
    testing = is_test(change.name) or IMPORTS_RUNNER.search(after)
    for line in fresh:
        if testing and OWN_JUDGE.search(line):
            yield Objection(
                "runner", change.name, f"{change.name} puts itself in the judge's place: {line[:120]}"
            )
    if change.name.endswith(".rb") and re.search(r"\baround\b(?!.*\.(?:run|call)\b)", " ".join(fresh)):
        yield Objection("runner", change.name, f"{change.name}: an around hook that does not run the tests")
    if change.name.endswith("_test.go") and (set_up := GO_INIT.search("\n".join(fresh))):
        yield Objection(
            "replaced", change.name, f"{change.name} replaces code under test: {set_up.group()[:120]}"
        )
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
