"""Flow runs in this process, on the shared server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from buildloop.result import BuildResult
from buildloop.rundir import RunDir
from tests.support.scripts import write_script


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "orchestration" in str(item.path):
            item.add_marker(pytest.mark.server)


@pytest.fixture
def play(build, request_for, repo, tmp_path) -> Callable[..., tuple[BuildResult, RunDir]]:
    """Build with a scripted agent that has these rules."""

    def run(*rules: dict, **changes: object) -> tuple[BuildResult, RunDir]:
        script = write_script(tmp_path / "agent.json", *rules)
        place = Path(str(changes.pop("where", repo)))
        request = request_for(place, agent="scripted", agent_script=str(script), **changes)
        return build(request), RunDir(request.run_dir)

    return run
