"""Flow runs in this process, on the shared server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from buildloop.request import BuildRequest
from buildloop.result import BuildResult
from buildloop.rundir import RunDir
from tests.support.scripts import write_script


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "orchestration" in str(item.path):
            item.add_marker(pytest.mark.server)


@pytest.fixture
def build(prefect_server: str) -> Callable[[BuildRequest], BuildResult]:
    """Run the flow to its end; whatever it returns or raises comes out."""

    def run(request: BuildRequest) -> BuildResult:
        from flows.build_loop import build_loop

        outcome = build_loop(request, return_state=True).result(raise_on_failure=False)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return run


@pytest.fixture
def play(build, request_for, repo, tmp_path) -> Callable[..., tuple[BuildResult, RunDir]]:
    """Build with a scripted agent that has these rules."""

    def run(*rules: dict, **changes: object) -> tuple[BuildResult, RunDir]:
        script = write_script(tmp_path / "agent.json", *rules)
        place = Path(str(changes.pop("where", repo)))
        request = request_for(place, agent="scripted", agent_script=str(script), **changes)
        return build(request), RunDir(request.run_dir)

    return run
