"""Which commands are narrowed to their failing tests, how, and which are left alone."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from buildloop.diagnosis.model import Finding, LogReading, TestCounts
from buildloop.models import CommandResult, GateReport, Verdict
from buildloop.recovery.rerun.narrow import RUNNERS, covers, narrowed_command, narrowed_gate
from buildloop.recovery.rerun.native import go_pattern
from buildloop.recovery.rerun.shell_words import plain_command


def reading(tool: str, *failing: str, **changes: object) -> LogReading:
    findings = tuple(Finding("boom", tool, test) for test in failing)
    return LogReading(**{"findings": findings, "failing": failing, "tools": (tool,), **changes})


PYTEST = reading("pytest", "tests/test_a.py::test_b")
JEST = reading("jest", "cart adds")

NARROWED = {
    "pytest": (PYTEST, "pytest tests/test_a.py::test_b"),
    "CI=1 pytest -q": (PYTEST, "CI=1 pytest -q tests/test_a.py::test_b"),
    'env A="$HOME/x y" B=2 pytest': (PYTEST, 'env A="$HOME/x y" B=2 pytest tests/test_a.py::test_b'),
    "cd backend && pytest": (PYTEST, "cd backend && pytest tests/test_a.py::test_b"),
    "python3.12 -X dev -m pytest tests -k 'a or b'": (
        PYTEST,
        "python3.12 -X dev -m pytest -k 'a or b' tests/test_a.py::test_b",
    ),
    "pytest -n 4 --tb=short -xq tests/unit tests/slow --maxfail 3": (
        PYTEST,
        "pytest -n 4 --tb=short -xq --maxfail 3 tests/test_a.py::test_b",
    ),
    "uv run --with pytest --frozen pytest -q": (
        PYTEST,
        "uv run --with pytest --frozen pytest -q tests/test_a.py::test_b",
    ),
    "poetry run pytest": (PYTEST, "poetry run pytest tests/test_a.py::test_b"),
    "timeout 600 uv run pytest": (PYTEST, "timeout 600 uv run pytest tests/test_a.py::test_b"),
    "coverage run -m pytest tests": (PYTEST, "coverage run -m pytest tests/test_a.py::test_b"),
    "tox -e py311": (PYTEST, "tox -e py311 -- tests/test_a.py::test_b"),
    "tox -e py311 -- -q": (PYTEST, "tox -e py311 -- -q tests/test_a.py::test_b"),
    "python manage.py test shop": (
        reading("unittest", "shop.tests.T.test_b"),
        "python manage.py test shop -k '*shop.tests.T.test_b'",
    ),
    "npm test": (JEST, "npm test -- -t '^(?:cart adds)$'"),
    "npm run test:unit -- --silent": (JEST, "npm run test:unit -- --silent -t '^(?:cart adds)$'"),
    "yarn test": (JEST, "yarn test -t '^(?:cart adds)$'"),
    "pnpm test": (JEST, "pnpm test -t '^(?:cart adds)$'"),
    "npx --yes jest src": (JEST, "npx --yes jest -t '^(?:cart adds)$' src"),
    "NODE_OPTIONS=--experimental-vm-modules node node_modules/jest/bin/jest.js": (
        JEST,
        "NODE_OPTIONS=--experimental-vm-modules node node_modules/jest/bin/jest.js -t '^(?:cart adds)$'",
    ),
    "cargo nextest run --workspace": (
        reading("cargo test", "shop tests::sum", "shop::it sum"),
        "cargo nextest run -E 'test(=tests::sum) | test(=sum)' --workspace",
    ),
    "./gradlew test --info": (
        reading("gradle", "CartTest.sum", "com.acme.CartTest.[1] 5"),
        "./gradlew test --tests CartTest.sum --tests com.acme.CartTest --info",
    ),
    "dotnet test Shop.sln -- RunConfiguration.X=1": (
        reading("dotnet test", "Shop.CartTest.Sum", "Shop.CartTest.Row(n: 1)"),
        "dotnet test --filter 'FullyQualifiedName=Shop.CartTest.Sum|FullyQualifiedName=Shop.CartTest.Row'"
        " Shop.sln -- RunConfiguration.X=1",
    ),
    "bundle exec rspec spec/models -f d": (
        reading("rspec", "./spec/a_spec.rb:4", "./spec/b_spec.rb[1:2]"),
        "bundle exec rspec -f d ./spec/a_spec.rb:4 './spec/b_spec.rb[1:2]'",
    ),
}


@pytest.mark.parametrize("command", NARROWED)
def test_a_plain_command_is_narrowed(command):
    log, wanted = NARROWED[command]
    assert narrowed_command(command, log) == wanted


@pytest.mark.parametrize(
    "command",
    [
        "pytest | tee log",
        "pytest && flake8",
        "pytest; true",
        "pytest || true",
        "(pytest)",
        "pytest $(cat tests.txt)",
        "pytest `cat tests.txt`",
        "pytest $TESTS",
        "pytest > log",
        "pytest 2>&1",
        "pytest # all of them",
        "pytest -q\nflake8",
        "pytest 'unclosed",
        "make test",
        "./run-tests.sh",
        "npm test",
        "pytest --pyargs shop",
        "pytest --unknown-option tests",
        "echo pytest",
        "uv run tool.py pytest",
        "",
        "CI=1",
    ],
)
def test_what_is_not_surely_understood_is_left_alone(command):
    assert narrowed_command(command, PYTEST) is None


@pytest.mark.parametrize(
    ("why", "log"),
    [
        ("nothing is named", reading("pytest")),
        ("too many", reading("pytest", *(f"tests/test_a.py::test_{n}" for n in range(11)))),
        ("too long", reading("pytest", f"tests/test_a.py::test_b[{'x' * 40_000}]")),
        ("another tool's names", reading("jest", "cart adds")),
        ("not a node id", reading("pytest", "tests.test_a.test_b")),
        ("would be an option", reading("pytest", "--co.py::test_b")),
        (
            "a suite did not load",
            reading(
                "pytest",
                "tests/test_a.py::test_b",
                findings=(
                    Finding("boom", "pytest", "tests/test_a.py::test_b"),
                    Finding("SyntaxError", "pytest"),
                ),
            ),
        ),
        (
            "a failure without a name",
            reading("pytest", "tests/test_a.py::test_b", counts=TestCounts(3, 1, 2)),
        ),
    ],
)
def test_a_selection_that_could_miss_a_failure_is_not_made(why, log):
    assert narrowed_command("pytest", log) is None


@pytest.mark.parametrize(
    ("command", "log"),
    [
        ("jest -t cart", JEST),
        ("mocha --grep=cart", reading("mocha", "cart adds")),
        ("go test -run TestA ./...", reading("go test", "TestA")),
        ("mvn -Dtest=CartTest test", reading("surefire", "CartTest#sum")),
        ("gradle test --tests CartTest", reading("gradle", "CartTest.sum")),
        ("gradle build", reading("gradle", "CartTest.sum")),
        ("cargo test", reading("cargo test", "src/lib.rs")),
        ("mocha", reading("mocha", 'cart "after all" hook')),
    ],
)
def test_a_selection_that_is_made_already_or_cannot_be_made_is_left_alone(command, log):
    assert narrowed_command(command, log) is None


HOSTILE = "a'; touch owned; echo \"$(touch owned)`touch owned` $HOME \\ | & (x) [y] *"
SAID_BY = {
    "jest": ("jest", HOSTILE),
    "vitest run": ("vitest", f"a.test.ts > {HOSTILE}"),
    "mocha": ("mocha", HOSTILE),
    "ava": ("ava", HOSTILE),
    "node --test": ("tap", HOSTILE),
    "bats tests": ("tap", HOSTILE),
    "pytest": ("pytest", f"tests/test_a.py::test_b[{HOSTILE}]"),
    "go test ./...": ("go test", f"TestA/{HOSTILE.replace(' ', '_')}"),
    "ctest": ("ctest", HOSTILE),
}


@pytest.mark.parametrize("command", SAID_BY)
def test_names_are_data_for_the_shell(command, tmp_path):
    """The runner itself is replaced by printf: what it would get is words, whatever the test is called."""
    narrowed = narrowed_command(command, reading(*SAID_BY[command]))
    assert narrowed is not None
    program = command.split()[0]
    shown = f"{program}() {{ printf '%s\\n' \"$@\"; }}\n{narrowed}"
    ran = subprocess.run(["/bin/sh", "-c", shown], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == shlex.split(narrowed)[1:]
    assert list(tmp_path.iterdir()) == []


def test_go_names_subtests_level_by_level_and_whole_tests_where_levels_differ():
    assert go_pattern(("TestA", "TestA/x", "TestA/y")) == "^(TestA)$/^(x|y)$"
    assert go_pattern(("TestA", "TestA/x", "TestB")) == "^(TestA|TestB)$"
    assert go_pattern(("TestA", "TestA/x", "TestA/x/deep_(1)")) == r"^(TestA)$/^(x)$/^(deep_\(1\))$"


def test_jest_paths_are_given_only_where_every_failure_was_seen_in_a_test_file():
    seen = (Finding("boom", "jest", "cart adds", file="src/cart.test.ts"),)
    assert "--runTestsByPath src/cart.test.ts" in (
        narrowed_command("jest", reading("jest", "cart adds", findings=seen)) or ""
    )
    thrown = (Finding("boom", "jest", "cart adds", file="src/cart.ts"),)
    assert "src/" not in (narrowed_command("jest", reading("jest", "cart adds", findings=thrown)) or "")


def test_a_gate_is_narrowed_only_where_one_of_its_commands_is_red():
    def report(*verdicts: Verdict) -> GateReport:
        ran = [CommandResult(command="***", verdict=v, exit_code=1, seconds=1, log="l") for v in verdicts]
        return GateReport(verdict=Verdict.FAILED, tree="t", commands=tuple(ran), reading=PYTEST)

    gate = ("ruff check", "pytest")
    assert narrowed_gate(gate, report(Verdict.PASSED, Verdict.FAILED)) == "pytest tests/test_a.py::test_b"
    assert narrowed_gate(gate, report(Verdict.FAILED, Verdict.FAILED)) is None
    assert narrowed_gate(gate, report(Verdict.PASSED, Verdict.TIMED_OUT)) is None


@pytest.mark.parametrize(
    ("rerun", "enough"),
    [
        (LogReading(counts=TestCounts(1, 1)), True),
        (reading("pytest", "tests/test_a.py::test_b", counts=TestCounts(1, 0, 1)), True),
        (LogReading(counts=TestCounts()), False),
        (LogReading(), False),
        (LogReading(counts=TestCounts(1, 0, 1)), False),
        (reading("pytest", "tests/test_a.py::test_other", counts=TestCounts(1, 0, 1)), False),
    ],
)
def test_a_rerun_covers_only_what_it_was_seen_to_run(rerun, enough):
    assert covers(rerun, PYTEST) is enough


def test_words_keep_what_the_user_typed():
    plain = plain_command("A='1 2' mocha 'a b' \"c\\\"d\" *.js")
    assert plain is not None
    assert [word.raw for word in plain.words] == ["mocha", "'a b'", '"c\\"d"', "*.js"]
    assert [word.value for word in plain.words] == ["mocha", "a b", 'c"d', "*.js"]


def test_every_runner_can_be_told_from_its_log():
    """Without that, the names of one tool would be handed to another."""
    assert all(runner.heads and runner.tools for runner in RUNNERS)
