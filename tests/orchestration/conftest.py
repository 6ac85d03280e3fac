"""Flow runs in this process, on the shared server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from buildloop.request import BuildRequest
from buildloop.result import BuildResult
from buildloop.rundir import RunDir
from tests.support.command import command_environment
from tests.support.scripts import write_script

ENTRYPOINT = "flows.build_loop:build_loop"


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


@pytest.fixture
def prefect(prefect_server, tmp_path):
    """Prefect's own command, started from a folder that knows nothing of buildloop."""
    started = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", *arguments],
            cwd=tmp_path,
            env=command_environment(prefect_server),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def client(prefect_server):
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as opened:
        yield opened


@pytest.fixture
def scheduled(client):
    """A flow run of a deployment, ready to be executed by whoever picks it up."""
    from flows.build_loop import build_loop

    def schedule(request: BuildRequest) -> str:
        flow_id = client.create_flow(build_loop)
        deployment = client.create_deployment(flow_id, "test", entrypoint=ENTRYPOINT)
        given = {"request": request.model_dump(mode="json")}
        return str(client.create_flow_run_from_deployment(deployment, parameters=given).id)

    return schedule
