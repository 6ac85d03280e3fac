"""What an objection does to a green gate, and what may be allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildloop.choices import IntegrityLevel
from buildloop.diagnosis.model import LogReading, TestCounts
from buildloop.models import GateReport, Verdict
from buildloop.workspace.integrity import Evidence, Ran, check_integrity
from buildloop.workspace.worktree import prepare_worktree
from tests.support.repos import commit_all, git, make_repo, write_files

FILES = {"run.sh": "exit 1\n", "tests/test_a.py": "def test_a():\n    assert f() == 1\n", "app.py": "x\n"}
GREEN = GateReport(
    verdict=Verdict.PASSED, tree="t", commands=(), reading=LogReading(counts=TestCounts(3, 3, 0, 0))
)
FOUR = Ran(counts=TestCounts(4, 0, 4, 0))
THREE = Ran(counts=TestCounts(3, 3, 0, 0))


@pytest.fixture
def workspace(tmp_path, request_for):
    return prepare_worktree(request_for(make_repo(tmp_path / "repo", FILES)))


def judged(workspace, level=IntegrityLevel.BLOCK, report=GREEN, before=FOUR, allowed=()):
    commit = git(Path(workspace.root), "rev-parse", "HEAD")
    return check_integrity(report, Evidence(workspace, commit, ["sh run.sh"], before, THREE, allowed), level)


def cheat(workspace):
    root = Path(workspace.root)
    write_files(root, {"run.sh": "exit 0\n"})
    git(root, "rm", "-q", "tests/test_a.py")
    commit_all(root, "cheat")


def test_the_report_turns_red_and_says_why_with_the_diff(workspace):
    cheat(workspace)
    report = judged(workspace)
    assert report.verdict is Verdict.FAILED
    for words in ("run.sh", "test_a", "only 3 tests"):
        assert words in report.explanation
    assert any("-exit 1\n+exit 0" in one.diff for one in report.tampering)
    assert len(report.reading.error_lines) == len(report.tampering) == 3


def test_a_warning_leaves_it_green_and_is_noted(workspace):
    cheat(workspace)
    report = judged(workspace, IntegrityLevel.WARN)
    assert report.passed
    assert len(report.tampering) == 3
    assert not any(one.blocks for one in report.tampering)


def test_off_is_off(workspace):
    cheat(workspace)
    assert judged(workspace, IntegrityLevel.OFF) is GREEN


def test_a_red_gate_stays_red_for_its_own_reasons_and_tells_early(workspace):
    cheat(workspace)
    red = GREEN.model_copy(update={"verdict": Verdict.FAILED, "explanation": "it failed"})
    report = judged(workspace, report=red)
    assert report.explanation == "it failed"
    assert report.tampering


def test_honest_work_stays_green(workspace):
    root = Path(workspace.root)
    write_files(root, {"app.py": "fixed\n", "tests/test_b.py": "def test_b():\n    assert 1\n"})
    commit_all(root, "work")
    report = judged(workspace, before=THREE)
    assert report.passed
    assert report.tampering == ()


@pytest.mark.parametrize("glob", ["tests/test_a.py", "tests/**", "tests/", "test_a.py", "*.py"])
def test_what_is_allowed_may_go(workspace, glob):
    git(Path(workspace.root), "rm", "-q", "tests/test_a.py")
    commit_all(Path(workspace.root), "goal")
    assert judged(workspace, allowed=(glob,)).passed
    assert not judged(workspace, allowed=("other/**",)).passed
