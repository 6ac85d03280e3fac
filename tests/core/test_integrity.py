"""A green gate must be earned: what counts as tampering and what is honest work."""

from __future__ import annotations

import json

import pytest

from buildloop.diagnosis.model import LogReading, TestCounts
from buildloop.models import GateReport, Verdict
from buildloop.workspace.integrity import (
    Change,
    check_integrity,
    deleted_tests,
    edited_gate_files,
    edited_recipes,
    fewer_tests,
    scripts_of,
)
from buildloop.workspace.worktree import prepare_worktree
from tests.support.repos import commit_all, git, make_repo, write_files

GREEN = GateReport(
    verdict=Verdict.PASSED, tree="t", commands=(), reading=LogReading(counts=TestCounts(3, 3, 0, 0))
)


@pytest.mark.parametrize("status", ["M", "D", "T"])
def test_a_script_the_command_names_is_part_of_the_gate(status):
    changes = [Change(status, "ci/run_tests.sh"), Change("M", "src/app.py")]
    assert len(edited_gate_files(["sh ./ci/run_tests.sh --all"], changes, ".")) == 1
    assert len(edited_gate_files(["sh run_tests.sh"], changes, "ci")) == 1


def test_a_test_file_the_command_names_may_be_changed():
    changes = [Change("M", "tests/test_app.py")]
    assert edited_gate_files(["pytest tests/test_app.py"], changes, ".") == []


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("./run.sh --fast", ["./run.sh"]),
        (
            "CI=1 bash -e ci/all.sh && python tools/check.py x.txt",
            ["bash", "ci/all.sh", "python", "tools/check.py"],
        ),
        ("grep -q typo README.md", ["grep"]),
        ("python -m pytest -q", ["python", "pytest"]),
    ],
)
def test_what_a_command_runs_is_told_from_what_it_reads(command, scripts):
    assert scripts_of(command) == scripts


def test_a_make_target_is_compared_by_what_it_does():
    before = "lint:\n\truff .\ntest: lint\n\tpytest -q\n"
    honest = before.replace("ruff .", "ruff check .")
    cheat = before.replace("pytest -q", "true")
    assert edited_recipes(["make test"], {"Makefile": (before, honest)}) == []
    assert edited_recipes(["make -s test"], {"Makefile": (before, cheat)}) != []
    assert edited_recipes(["pytest"], {"Makefile": (before, cheat)}) == []


@pytest.mark.parametrize("command", ["npm test", "npm run test", "yarn test", "pnpm -s test"])
def test_a_package_script_is_compared_by_what_it_does(command):
    before = json.dumps({"scripts": {"test": "jest", "build": "tsc"}, "version": "1"})
    honest = json.dumps({"scripts": {"test": "jest", "build": "vite"}, "version": "2"})
    cheat = json.dumps({"scripts": {"test": "jest || true", "build": "tsc"}, "version": "1"})
    assert edited_recipes([command], {"package.json": (before, honest)}) == []
    assert edited_recipes([command], {"package.json": (before, cheat)}) != []


def test_deleted_tests_are_objected_to_and_renamed_ones_are_not():
    changes = [Change("D", "tests/test_a.py"), Change("R", "tests/test_c.py"), Change("D", "src/old.py")]
    assert deleted_tests(changes) == ["the test file tests/test_a.py was deleted"]


def test_green_with_fewer_tests_is_red():
    assert fewer_tests(TestCounts(3, 1, 2, 0), TestCounts(2, 2, 0, 1)) != []
    assert fewer_tests(TestCounts(3, 1, 2, 0), None) == []
    assert fewer_tests(TestCounts(3, 1, 2, 0), TestCounts(4, 4, 0, 0)) == []
    assert fewer_tests(None, TestCounts(1, 1, 0, 0)) == []


def test_the_objection_turns_the_report_red_and_says_why(tmp_path, request_for):
    repo = make_repo(tmp_path / "repo", {"run.sh": "exit 1", "tests/test_a.py": "x", "app.py": "x"})
    workspace = prepare_worktree(request_for(repo))
    root = tmp_path / "state" / "worktrees" / workspace.root.rsplit("/", 1)[1]
    write_files(root, {"run.sh": "exit 0"})
    git(root, "rm", "-q", "tests/test_a.py")
    commit = commit_all(root, "cheat")
    judged = check_integrity(GREEN, workspace, commit, ["sh run.sh"], TestCounts(4, 0, 4, 0))
    assert judged.verdict is Verdict.FAILED
    for words in ("run.sh", "tests/test_a.py", "only 3 tests"):
        assert words in judged.explanation
    assert len(judged.reading.error_lines) == 3


def test_honest_work_stays_green(tmp_path, request_for):
    repo = make_repo(tmp_path / "repo", {"run.sh": "exit 1", "tests/test_a.py": "x", "app.py": "x"})
    workspace = prepare_worktree(request_for(repo))
    root = tmp_path / "state" / "worktrees" / workspace.root.rsplit("/", 1)[1]
    write_files(root, {"app.py": "fixed", "tests/test_a.py": "x and more", "tests/test_b.py": "new"})
    commit = commit_all(root, "work")
    assert check_integrity(GREEN, workspace, commit, ["sh run.sh"], TestCounts(3, 0, 3, 0)) is GREEN
