"""Maven, Gradle and dotnet test: tests of a class, named through the build tool."""

from __future__ import annotations

import re
from collections.abc import Sequence

from buildloop.diagnosis.model import LogReading
from buildloop.recovery.rerun.runner import Runner, Words, first, raw

IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*$")
CLASS = re.compile(r"[\w.$]+$")
PARAMETERS = re.compile(r"\s*[\[({].*$")
TEST_TASK = re.compile(r"(?:.*:)?(?:test|\w+Test|test\w+)$")
DOTNET_NAME = re.compile(r"[\w.+]+$")


def class_and_method(test: str) -> tuple[str, str | None] | None:
    """`com.acme.CartTest#total(int)[1]` or `com.acme.CartTest.total`; no method where it has only a title."""
    owner, sharp, method = test.partition("#")
    if not sharp:
        owner, _, method = PARAMETERS.sub("", test).rpartition(".")
    if not CLASS.match(owner):
        return None
    method = PARAMETERS.sub("", method)
    return owner, method if IDENTIFIER.match(method) else None


def maven(reading: LogReading) -> list[str] | None:
    """Modules without any of the tests must not fail for it."""
    named = [class_and_method(test) for test in reading.failing]
    tests = [f"{owner}#{method}" if method else owner for owner, method in filter(None, named)]
    if len(tests) < len(named):
        return None
    chosen = ",".join(dict.fromkeys(tests))
    return [f"-Dtest={chosen}", "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false"]


def gradle(reading: LogReading) -> list[str] | None:
    named = [class_and_method(test) for test in reading.failing]
    tests = [f"{owner}.{method}" if method else owner for owner, method in filter(None, named)]
    if len(tests) < len(named):
        return None
    return [word for test in dict.fromkeys(tests) for word in ("--tests", test)]


def after_test_task(arguments: Words, selecting: Sequence[str]) -> list[str] | None:
    """`--tests` is an option of the one task before it. A task that the build finished before is done again."""
    tasks = [index for index, word in enumerate(arguments) if TEST_TASK.match(word.value)]
    if len(tasks) != 1:
        return None
    here = tasks[0] + 1
    return [*raw(arguments[:here]), *selecting, *raw(arguments[here:])]


def dotnet(reading: LogReading) -> list[str] | None:
    """A parameter list is not part of the name, so a theory runs with all of its data."""
    names = dict.fromkeys(PARAMETERS.sub("", test) for test in reading.failing)
    if not all(map(DOTNET_NAME.match, names)):
        return None
    return ["--filter", "|".join(f"FullyQualifiedName={name}" for name in names)]


RUNNERS = (
    Runner(
        (("mvn",), ("mvnw",), ("mvnd",)),
        frozenset({"surefire"}),
        maven,
        first,
        frozenset({"-Dtest", "-Dit.test"}),
    ),
    Runner(
        (("gradle",), ("gradlew",)), frozenset({"gradle"}), gradle, after_test_task, frozenset({"--tests"})
    ),
    Runner((("dotnet", "test"),), frozenset({"dotnet test"}), dotnet, first, frozenset({"--filter"})),
)
