"""A killed flow run is continued by Prefect's own means: retried, or scheduled anew with the same run id."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from buildloop.errors import RunLocked
from buildloop.events import read_events
from buildloop.request import BuildRequest
from buildloop.workspace.lock import is_running, local_owner
from tests.support.command import command_environment
from tests.support.repos import every_file
from tests.support.waiting import content, eventually

pytestmark = pytest.mark.slow

ENTRYPOINT = "flows.build_loop:build_loop"
# The first call finishes; the second one hangs until `go` exists.
AGENT = """
echo call >> {place}/calls
if [ "$(wc -l < {place}/calls)" = 1 ]; then touch one.txt; exit; fi
while [ ! -e {place}/go ]; do sleep 0.1; done
touch two.txt
"""


@pytest.fixture
def request_(request_for, repo, tmp_path) -> BuildRequest:
    script = tmp_path / "agent.sh"
    script.write_text(AGENT.format(place=tmp_path))
    return request_for(repo, test=("test -e two.txt",), agent_command=f"sh {script}")


def in_its_second_call(tmp_path: Path) -> None:
    eventually(lambda: content(tmp_path / "calls").count("call") == 2, 120)


def kill_all(process: subprocess.Popen[str], request: BuildRequest) -> None:
    """As if the machine had failed: what was started, and the process of the flow, which may have its own group."""
    worker = local_owner(request.run_dir)
    assert worker is not None
    for group in {process.pid, os.getpgid(worker)}:
        os.killpg(group, signal.SIGKILL)
    process.wait()
    eventually(lambda: not is_running(request.run_dir))


def assert_continued(request: BuildRequest, tmp_path: Path) -> None:
    """Two iterations, each finished once; only the call that was killed was made again."""
    result = json.loads((request.run_dir / "result.json").read_text())
    assert (result["reason"], result["iterations"]) == ("complete", 2)
    assert content(tmp_path / "calls").count("call") == 3
    events = read_events(request.run_dir / "events.jsonl")
    done = Counter(event["iteration"] for event in events if event["type"] == "loop.iteration_complete")
    assert done == {1: 1, 2: 1}


def test_prefect_flow_run_retry_continues_a_crashed_run(request_, scheduled, prefect, client, tmp_path):
    """Killed with its group, the flow run stays `Running` until someone notices; then it is retried by hand."""
    from prefect.states import Crashed

    identity = scheduled(request_)
    first = prefect("flow-run", "execute", identity)
    in_its_second_call(tmp_path)
    kill_all(first, request_)
    client.set_flow_run_state(identity, Crashed(message="no heartbeat"), force=True)
    (tmp_path / "go").touch()
    told, _ = prefect("flow-run", "retry", identity).communicate(timeout=400)
    assert "scheduled for retry" in told
    told, _ = prefect("flow-run", "execute", identity).communicate(timeout=400)
    assert client.read_flow_run(identity).state.is_completed(), told
    assert_continued(request_, tmp_path)


def test_a_run_started_by_hand_is_retried_from_its_entrypoint(request_, prefect, client, tmp_path):
    """No deployment, no worker: `prefect flow-run retry --entrypoint` runs it where it is typed."""
    from prefect.states import Crashed

    settings = tmp_path / "request.json"
    settings.write_text(request_.model_dump_json())
    code = (
        "import sys; from buildloop.request import BuildRequest; from flows.build_loop import build_loop; "
        "build_loop(BuildRequest.model_validate_json(open(sys.argv[1]).read()))"
    )
    begun = subprocess.Popen(
        [sys.executable, "-c", code, str(settings)],
        env=command_environment(os.environ["PREFECT_API_URL"]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    in_its_second_call(tmp_path)
    kill_all(begun, request_)
    events = read_events(request_.run_dir / "events.jsonl")
    identity = [event["id"] for event in events if event["type"] == "loop.flow_run"][-1]
    client.set_flow_run_state(identity, Crashed(message="no heartbeat"), force=True)
    (tmp_path / "go").touch()
    told, _ = prefect("flow-run", "retry", identity, "--entrypoint", ENTRYPOINT).communicate(timeout=400)
    assert client.read_flow_run(identity).state.is_completed(), told
    assert_continued(request_, tmp_path)


def test_scheduled_anew_it_continues_and_meanwhile_nobody_else_may_have_it(
    request_, scheduled, prefect, client, tmp_path
):
    from flows.build_loop import build_loop

    first = prefect("flow-run", "execute", scheduled(request_))
    in_its_second_call(tmp_path)
    before = every_file(request_.run_dir)
    refused = build_loop(request_, return_state=True).result(raise_on_failure=False)
    assert isinstance(refused, RunLocked)
    assert "is being worked on by process" in str(refused)
    assert every_file(request_.run_dir) == before
    kill_all(first, request_)
    (tmp_path / "go").touch()
    again = scheduled(request_)
    told, _ = prefect("flow-run", "execute", again).communicate(timeout=400)
    assert client.read_flow_run(again).state.is_completed(), told
    assert_continued(request_, tmp_path)
