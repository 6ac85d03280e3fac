"""The two taxonomies of errors, each decided in one place: six categories, ten classes.

Parsed facts decide first (which tool spoke, which type it named), words second: an assertion about the word
"timeout" is an assertion.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from buildloop.diagnosis.kinds import Kind, kind_of_text
from buildloop.diagnosis.model import Category, ErrorClass, Finding, LogReading, SignalKind
from buildloop.diagnosis.ownership import is_own, names_in
from buildloop.diagnosis.signals import scan
from buildloop.patterns import Regex


class Family(Enum):
    """What sort of tool spoke: a compiler and a running program mean different things by the same words."""

    TESTS = auto()
    COMPILER = auto()
    PACKAGES = auto()
    AGENT = auto()
    PROGRAM = auto()


TOOLS: Mapping[Family, str] = {
    Family.TESTS: "pytest unittest jest vitest mocha playwright tap cargo-test go-test surefire junit rspec "
    "minitest phpunit test-more dotnet-test ctest exunit scalatest munit dart hspec ava node:test robot "
    "bazel deno karma busted doctest catch2 gtest xctest bun clojure julia testthat boost.test",
    Family.COMPILER: "tsc eslint mypy ruff rustc go gcc msvc ld javac cmake make prettier black isort "
    "rustfmt rubocop psalm ktlint hadolint markdownlint luacheck biome lint annotation pre-commit bandit "
    "shellcheck phpstan elm webpack esbuild vite dotnet gradle maven terraform compiler docker-build",
    Family.PACKAGES: "npm pnpm yarn bun-install pip uv poetry pipenv pdm conda cargo apt apk dnf brew "
    "bundler gem composer cocoapods cpan hex docker git nuget go-mod",
    Family.AGENT: "claude codex gemini aider opencode",
}
FAMILY_OF = {tool.replace("-", " "): family for family, tools in TOOLS.items() for tool in tools.split()}

KIND_OF_TYPE: Mapping[str, Kind] = {
    "NoTests": Kind.NO_TESTS,
    "MissingPlugin": Kind.MISSING,
    "Timeout": Kind.TIMEOUT,
    "timeout": Kind.TIMEOUT,
    "CommandNotFound": Kind.COMMAND,
    "OutOfMemory": Kind.MEMORY,
    "StackOverflow": Kind.MEMORY,
    "Killed": Kind.MEMORY,
    "Signal": Kind.MEMORY,
    "valgrind": Kind.MEMORY,
    "DiskFull": Kind.RESOURCE,
    "Limit": Kind.RESOURCE,
    "ContextOverflow": Kind.RESOURCE,
    "AgentLimit": Kind.RESOURCE,
    "AgentLoop": Kind.AGENT,
    "AgentAuth": Kind.AGENT,
    "AgentError": Kind.AGENT,
    "race": Kind.RACE,
    "ThreadSanitizer": Kind.RACE,
    "FileNotFound": Kind.FILE,
    "Permission": Kind.FILE,
    "SharedLibrary": Kind.MISSING,
    "ClassNotFound": Kind.MISSING,
    "UnboundVariable": Kind.UNDEFINED,
    "Parse error": Kind.SYNTAX,
    "syntax": Kind.SYNTAX,
    "E0583": Kind.FILE,
    "lint": Kind.OTHER,
    "format": Kind.OTHER,
    "config": Kind.OTHER,
    "Retry": Kind.ASSERTION,
}
ASSERTING = Regex(
    r"(?:.*\.)?(?:\w*Assert\w*|assertion|ExpectationNotMet|ComparisonFailure|Comparison\w*Exception"
    r"|ExpectationFailed\w*)$"
)
# Types that say no more than that something went wrong.
NAMELESS = frozenset({"Error", "Exception", "panic", "RuntimeError", "die", "Failed", "task", "goal"})
NOT_CALLABLE = Regex(r"is not a function|not callable|undefined method")
COMPILING = frozenset(
    {
        Kind.VERSION,
        Kind.SYNTAX,
        Kind.MISSING,
        Kind.COMMAND,
        Kind.FILE,
        Kind.UNDEFINED,
        Kind.TYPE,
        Kind.MEMORY,
        Kind.RESOURCE,
        Kind.NETWORK,
        Kind.TIMEOUT,
    }
)
PACKAGING = frozenset({Kind.NETWORK, Kind.SYNTAX, Kind.FILE, Kind.RESOURCE, Kind.TIMEOUT})
LACKING = frozenset({Kind.MISSING, Kind.COMMAND})
RAISED = frozenset(Kind) - {Kind.ASSERTION}

SIX: Mapping[Kind, Category] = {
    Kind.ASSERTION: Category.ASSERTION,
    Kind.VERSION: Category.DEPENDENCY,
    Kind.SYNTAX: Category.SYNTAX,
    Kind.MISSING: Category.DEPENDENCY,
    Kind.COMMAND: Category.DEPENDENCY,
    Kind.NO_TESTS: Category.UNKNOWN,
    Kind.AGENT: Category.UNKNOWN,
}
TEN: Mapping[Kind, ErrorClass] = {
    Kind.ASSERTION: ErrorClass.ASSERTION_FAILURE,
    Kind.TIMEOUT: ErrorClass.TIMEOUT,
    Kind.NETWORK: ErrorClass.NETWORK_ERROR,
    Kind.MEMORY: ErrorClass.MEMORY_ERROR,
    Kind.RESOURCE: ErrorClass.RESOURCE_ERROR,
    Kind.SYNTAX: ErrorClass.SYNTAX_ERROR,
    Kind.MISSING: ErrorClass.FILE_ACCESS,
    Kind.COMMAND: ErrorClass.FUNCTION_ERROR,
    Kind.FILE: ErrorClass.FILE_ACCESS,
    Kind.UNDEFINED: ErrorClass.FUNCTION_ERROR,
    Kind.TYPE: ErrorClass.TYPE_ERROR,
}

# A line on its own: which tool wrote it.
MARKS: tuple[tuple[str, Regex], ...] = tuple(
    (tool, Regex(pattern))
    for tool, pattern in (
        ("npm", r"npm (?:ERR!|error)|ERR_PNPM_|.*\bERESOLVE\b|.*peer dep"),
        (
            "pip",
            r"ERROR: (?:Could not find a version|No matching distribution|Cannot install"
            r"|ResolutionImpossible)|.*version solving failed",
        ),
        ("tsc", r".*\berror TS\d+"),
        ("rustc", r"error(?:\[E\d{4}\])|error: could not compile"),
        ("gcc", r".*:\d+(?::\d+)?: (?:fatal )?error: |.*undefined reference to|.*\blinker\b"),
        (
            "make",
            r"(?:make(?:\[\d+\])?: |ninja: )|(?i:.*\b(?:build|compilation) (?:failed|error))"
            r"|.*cannot find symbol|.*error CS\d+",
        ),
    )
)
TYPED = Regex(r"\b(?P<type>(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Failure)|panic)\b(?!\.)")
BARE = Regex(r"\s*(?:E\s+)?(?:Error|Exception|Failure)\s*:")


def categorize_error(line: str) -> Category:
    """The six-way category of one line; UNKNOWN when the line does not say."""
    return _category(_as_finding(line))


def error_class(line: str) -> ErrorClass:
    """The ten-way class of one line; UNKNOWN when the line does not say."""
    return TEN.get(_kind(_as_finding(line)), ErrorClass.UNKNOWN)


def category_of(reading: LogReading, own: frozenset[str] = frozenset()) -> Category:
    """`own` are names known to be the project's besides those that the log shows."""
    if not reading.findings:
        return Category.UNKNOWN
    return _category(reading.findings[0], own | reading.own_names)


def class_of(reading: LogReading) -> ErrorClass:
    return TEN.get(_kind(reading.findings[0]), ErrorClass.UNKNOWN) if reading.findings else ErrorClass.UNKNOWN


def _as_finding(line: str) -> Finding:
    line = line[:2000]
    tool = next((tool for tool, mark in MARKS if mark.match(line)), "")
    typed = TYPED.search(line) if not BARE.match(line) else None
    return Finding(message=line, tool=tool, type=typed["type"] if typed else None, lines=(line,))


def _category(finding: Finding, own: frozenset[str] = frozenset()) -> Category:
    kind, family = _kind(finding), _family(finding)
    if family is Family.PACKAGES:
        return _packaging(finding, kind)
    if kind is Kind.MISSING and _lacks_its_own(finding, own):
        return Category.BUILD if family is Family.COMPILER else Category.RUNTIME
    if kind in SIX:
        return SIX[kind]
    if family is Family.COMPILER:
        return Category.BUILD
    if family is Family.AGENT or (kind is Kind.OTHER and family is Family.PROGRAM and not finding.type):
        return Category.UNKNOWN
    return Category.RUNTIME


def _packaging(finding: Finding, kind: Kind) -> Category:
    """A package manager speaks of dependencies, unless it could not read the project itself."""
    if kind is Kind.SYNTAX:
        return Category.SYNTAX
    broken_project = (kind is Kind.FILE and finding.type == "ENOENT") or finding.message.startswith(
        "Missing script"
    )
    return Category.BUILD if broken_project else Category.DEPENDENCY


def _lacks_its_own(finding: Finding, own: frozenset[str]) -> bool:
    """Whether what is missing is the project's own: then its code is wrong, and nothing is to be installed."""
    seen = scan(finding.lines or (finding.message,))
    missing = [signal for signal in seen.signals if signal.kind is SignalKind.MISSING]
    shown = own | seen.own_names | names_in(finding.file or "")
    return bool(missing) and is_own(missing[0], shown)


def _family(finding: Finding) -> Family:
    return Family.TESTS if finding.test else FAMILY_OF.get(finding.tool, Family.PROGRAM)


def _kind(finding: Finding) -> Kind:
    named = finding.type or ""
    if named in KIND_OF_TYPE:
        return KIND_OF_TYPE[named]
    if ASSERTING.match(named):
        return Kind.ASSERTION
    family = _family(finding)
    text = f"{finding.message}\n{finding.lines[0] if finding.lines else ''}"
    if family is Family.COMPILER:
        return kind_of_text(f"{named} {text}", COMPILING) or Kind.OTHER
    if family is Family.PACKAGES:
        return kind_of_text("\n".join((named, text, *finding.lines)), PACKAGING) or Kind.OTHER
    return _running(finding, family, text)


def _running(finding: Finding, family: Family, text: str) -> Kind:
    """A test or a program: the exception's name, then what was compared, then the words."""
    if finding.type and finding.type not in NAMELESS:
        return _raised(finding.type, text)
    if finding.expected is not None and finding.actual is not None:
        return Kind.ASSERTION
    told = kind_of_text(text) or kind_of_text("\n".join(finding.lines), LACKING)
    return told or (
        Kind.ASSERTION if family is Family.TESTS and finding.type in (None, "Failed") else Kind.OTHER
    )


def _raised(name: str, text: str) -> Kind:
    """An exception's name says more than its message, except that much is called a TypeError."""
    kind = kind_of_text(name, RAISED) or kind_of_text(text, RAISED) or Kind.OTHER
    return Kind.UNDEFINED if kind is Kind.TYPE and NOT_CALLABLE.search(text) else kind
