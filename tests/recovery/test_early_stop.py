"""A runner that stops at its first failure says nothing about the tests after it."""

from __future__ import annotations

import pytest

from buildloop.recovery.quarantine import judge
from buildloop.recovery.rerun.early_stop import may_stop_early
from buildloop.recovery.rerun.narrow import narrowed_gate
from tests.support.states import report


@pytest.mark.parametrize(
    "command",
    [
        "pytest -x",
        "python -m pytest --maxfail=1 -q",
        "python -m unittest -q -f",
        "python -m unittest --failfast",
        "go test -failfast ./...",
        "npx jest --bail",
        "npx jest --bail=2",
        "mocha -b test",
        "bundle exec rspec --fail-fast",
        "vendor/bin/phpunit --stop-on-failure",
        "make lint && pytest -q",
        "cd app && A=1 pytest -x tests",
    ],
)
def test_these_may_stop_before_their_end(command):
    assert may_stop_early(command)


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "cd app && pytest -q tests",
        "python -m unittest -q -b",
        "go test ./...",
        "cargo test --no-fail-fast",
        "npx jest -f failed.test.js",
        "make test",
        "npm test --silent",
        "pytest -q | tee log",
    ],
)
def test_these_run_to_their_end(command):
    assert not may_stop_early(command)


def red(command: str):
    found = report()
    return found.model_copy(update={"commands": (found.commands[0].model_copy(update={"command": command}),)})


def test_a_quarantined_test_excuses_only_a_gate_that_ran_to_its_end():
    assert judge(red("pytest -q"), {"t::a"}).passed
    assert not judge(red("pytest -q -x"), {"t::a"}).passed


def test_a_rerun_of_what_failed_is_no_answer_for_what_never_ran():
    assert narrowed_gate(("pytest -q -x",), red("pytest -q -x")) is None
