"""Cancelled by signal, in Prefect, or under a worker: nothing is left behind and the run can be resumed."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from buildloop.events import read_events
from buildloop.rundir import RunDir
from tests.support.command import command_environment, run_buildloop
from tests.support.waiting import content, eventually, processes_with

pytestmark = pytest.mark.slow

# Ignores every polite signal and leaves a grandchild in a session of its own that does so, too.
STUBBORN = """
import os, pathlib, signal, sys, time
place, name = pathlib.Path(sys.argv[1]), sys.argv[2]
if (place / "let-go").exists():
    if name == "agent":
        pathlib.Path("touched.txt").write_text("x")
    sys.exit(0 if pathlib.Path("touched.txt").exists() else 1)
if name == "gate" and not pathlib.Path("touched.txt").exists():
    sys.exit(1)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        (place / "up").write_text("x")
        time.sleep(600)
    os._exit(0)
time.sleep(600)
"""


@pytest.fixture
def stubborn(tmp_path):
    """The command line of an agent or a gate that hangs until the file `let-go` exists."""
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    return lambda name: shlex.join([sys.executable, str(script), str(tmp_path), name])


@pytest.fixture
def begun(prefect_server, repo, tmp_path, stubborn):
    """A run that hangs in its agent or in its gate."""
    started = []

    def start(hanging: str) -> subprocess.Popen[str]:
        agent = stubborn("agent") if hanging == "agent" else "touch touched.txt"
        gate = stubborn("gate") if hanging == "gate" else "test -e touched.txt"
        arguments = ["run", "goal", "--repo", str(repo), "--state-dir", str(tmp_path / "state")]
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "buildloop.cli.main",
                *arguments,
                "--test",
                gate,
                "--agent-command",
                agent,
            ],
            env=command_environment(prefect_server),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)
        eventually(lambda: content(tmp_path / "up"), 120)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def run_dir(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "state" / "runs").iterdir()
    return found


def flow_run_id(tmp_path: Path) -> str:
    events = read_events(run_dir(tmp_path) / "events.jsonl")
    return [event["id"] for event in events if event["type"] == "loop.flow_run"][-1]


def cancel_in_prefect(identity: str) -> None:
    """What the button in the UI does."""
    from prefect.client.orchestration import get_client
    from prefect.states import Cancelling

    with get_client(sync_client=True) as client:
        client.set_flow_run_state(identity, Cancelling())


def is_cancelled_in_prefect(identity: str) -> bool:
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        return client.read_flow_run(identity).state.is_cancelled()


def assert_ended_and_resumable(tmp_path: Path, prefect_server: str) -> None:
    assert processes_with(str(tmp_path / "stubborn.py")) == []
    assert is_cancelled_in_prefect(flow_run_id(tmp_path))
    (tmp_path / "let-go").touch()
    ended = run_buildloop("resume", "--json", "--state-dir", str(tmp_path / "state"), api_url=prefect_server)
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert (result["reason"], result["iterations"]) == ("complete", 1)


@pytest.mark.parametrize(
    ("hanging", "number"), [("agent", signal.SIGINT), ("gate", signal.SIGTERM)], ids=["agent", "gate"]
)
def test_a_signal_ends_everything(begun, prefect_server, tmp_path, hanging, number):
    process = begun(hanging)
    process.send_signal(number)
    told, _ = process.communicate(timeout=400)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert json.loads((run_dir(tmp_path) / "result.json").read_text())["reason"] == "cancelled"
    assert_ended_and_resumable(tmp_path, prefect_server)


def test_prefect_ends_a_run_that_has_no_worker(begun, prefect_server, tmp_path):
    process = begun("agent")
    cancel_in_prefect(flow_run_id(tmp_path))
    told, _ = process.communicate(timeout=400)
    assert process.returncode == 130, told
    assert "Cancelled by Prefect" in told
    assert "Traceback" not in told
    assert_ended_and_resumable(tmp_path, prefect_server)


def test_prefect_ends_a_run_that_a_worker_executes(
    scheduled, prefect, prefect_server, request_for, repo, stubborn, tmp_path
):
    """The worker's signal and our own look at the flow run meet; whichever is first, nothing is left."""
    request = request_for(repo, test=("test -e touched.txt",), agent_command=stubborn("agent"))
    identity = scheduled(request)
    process = prefect("flow-run", "execute", identity)
    eventually(lambda: content(tmp_path / "up"), 120)
    cancel_in_prefect(identity)
    process.communicate(timeout=400)
    eventually(lambda: not RunDir(request.run_dir).is_running())
    assert_ended_and_resumable(tmp_path, prefect_server)
