"""Which files are tests, which steer a test runner, which hold what tests expect."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

TEST_FOLDER = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testing|e2e|integration[_-]tests?|unit[_-]tests?)/", re.I
)
TEST_NAME = re.compile(
    r"(?:^|/)(?:test_[^/]*\.py|[^/]*_test\.(?:py|go|rb|exs?|dart|cc|cpp|c|ts|js|lua|php|clj)|[^/]*_spec\.(?:rb|lua|cr)"
    r"|[^/]*[.-](?:test|spec|tests|specs)\.[cm]?[jt]sx?|test\.[cm]?[jt]s|test-[^/]*\.[cm]?js"
    r"|[^/]*(?:Test|Tests|IT|Spec|TestCase)\.(?:java|kt|kts|cs|scala|groovy|swift|php)|Test[A-Z][^/]*\.java"
    r"|[^/]*(?:jest|vitest|mocha|test|tests)[._-]?setup[^/]*\.[cm]?[jt]s|setup[._-]?tests?\.[cm]?[jt]sx?"
    r"|[^/]*\.bats|[^/]*\.t|tests?\.(?:py|rs|ex|exs))$"
)
CODE = re.compile(
    r"\.(?:py|[cm]?[jt]sx?|go|rs|rb|java|kts?|cs|scala|groovy|swift|php|exs?|dart|bats|t|pl|pm|c|cc|cpp|cxx|h|hpp|lua"
    r"|sh|bash|clj|vue|svelte)$"
)
SNAPSHOT = re.compile(
    r"(?:^|/)(?:__snapshots__|snapshots?|goldens?|testdata|approved|cassettes|__file_snapshots__)/|\.(?:snap|golden|ambr|approved\.\w+)$"
    r"|\.snap\.\w+$|(?:^|[/._-])(?:expected|golden|baseline|approved)[^/]*$",
    re.I,
)
NEVER_COLLECTED = re.compile(
    r"(?:^|/)(?:node_modules|vendor|\.[^/]+|_[^_/][^/]*|disabled|old|archive[d]?|attic|backup|trash)/|\.(?:bak|orig|disabled|off|txt|skip|old)$|~$"
)
# `x_windows_test.go` is built there only.
GO_PLATFORM = re.compile(
    r"_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm)_test\.go$"
)
DEPENDENCY_FOLDER = re.compile(
    r"(?:^|/)(?:node_modules|\.?venv|env|site-packages|target|vendor|\.tox|\.nox|dist)/"
)


def is_test(name: str) -> bool:
    """A file that a runner collects tests from, or that stands with them as code."""
    return bool(CODE.search(name)) and bool(TEST_NAME.search(name) or TEST_FOLDER.search(name))


def is_collected(name: str) -> bool:
    """Whether a runner would take this for a file with tests, going by its name."""
    return (
        (is_test(name) or name.endswith(".rs"))
        and not NEVER_COLLECTED.search(name)
        and collected_by_name(name)
    )


def collected_by_name(name: str) -> bool:
    if name.endswith(".py"):
        return PurePosixPath(name).name.startswith("test") or name.endswith("_test.py")
    if "setup" in PurePosixPath(name).name.lower():
        return False
    if name.endswith(".go"):
        return (
            name.endswith("_test.go")
            and not GO_PLATFORM.search(name)
            and not PurePosixPath(name).name.startswith(("_", "."))
        )
    return True


def is_test_data(name: str) -> bool:
    """What tests compare with or read: snapshots, golden files, fixtures of any format."""
    return not CODE.search(name) and bool(SNAPSHOT.search(name) or TEST_FOLDER.search(name))


def matches(name: str, globs: Sequence[str]) -> bool:
    """Globs as users write them: `tests/test_a.py`, `tests/**`, `*.snap`, `tests/`."""
    for glob in globs:
        pattern = glob.removeprefix("./")
        pattern = pattern + "**" if pattern.endswith("/") else pattern
        if fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, pattern.replace("**/", "")):
            return True
        if "/" not in pattern and fnmatch.fnmatchcase(PurePosixPath(name).name, pattern):
            return True
    return False
