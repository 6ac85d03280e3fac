"""Whole runs on the shared server, with something going wrong underneath."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from buildloop.request import BuildRequest
from buildloop.result import BuildResult
from buildloop.rundir import RunDir
from tests.support.repos import git
from tests.support.scripts import WRITE_FIX, write_script, wrong


@dataclass(frozen=True)
class Story:
    """What a run came to, as far as it must not depend on what went wrong on the way. `calls` are those that gave an
    answer."""

    reason: str
    iterations: int
    trees: tuple[str, ...]
    calls: int


@pytest.fixture
def two_steps(request_for, repo, tmp_path) -> BuildRequest:
    """One wrong try, then the fix."""
    rules = ({"when": {"call": 1}, "do": [wrong(1)]}, {"do": [WRITE_FIX]})
    script = write_script(tmp_path / "agent.json", *rules)
    return request_for(repo, agent="scripted", agent_script=str(script), run_id="r1")


@pytest.fixture
def story(repo) -> Callable[[BuildRequest, BuildResult], Story]:
    def tell(request: BuildRequest, result: BuildResult) -> Story:
        trees = git(repo, "log", "--reverse", "--format=%T", f"main..{result.branch}").split()
        calls = [
            call for call in RunDir(request.run_dir).ledger.calls() if call.paid and not call.interrupted
        ]
        return Story(result.reason, result.iterations, tuple(trees), len(calls))

    return tell
