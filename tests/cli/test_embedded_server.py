"""Without a Prefect server of the user's, a command brings its own; nothing of it outlives the command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import command_environment, run_buildloop
from tests.support.repos import checkout_state
from tests.support.waiting import alive, content, eventually, processes_with

pytestmark = pytest.mark.slow

# Call 1 leaves a file, call 2 hangs with a child in a session of its own, call 3 finishes the job.
AGENT = """\
#!/bin/sh
echo call >> {place}/calls
case $(wc -l < {place}/calls) in
1) echo x > first.txt ;;
2) setsid sleep 600 & echo $! > {place}/child; echo $$ > {place}/agent; sleep 600 ;;
*) touch done.txt ;;
esac
"""


def begin(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "buildloop.cli.main", *arguments],
        env=command_environment(None),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def server_pid(state: Path) -> int:
    return int(json.loads((state / "prefect" / "server.json").read_text())["pid"])


def test_ctrl_c_ends_everything_resume_completes_and_two_commands_share_one_server(repo, tmp_path):
    state, before = tmp_path / "state", checkout_state(repo)
    agent = tmp_path / "agent.sh"
    agent.write_text(AGENT.format(place=tmp_path))
    agent.chmod(0o755)
    common = ("--repo", str(repo), "--state-dir", str(state))
    first = begin("run", "first", *common, "--test", "test -e done.txt", "--agent-command", str(agent))
    child = int(eventually(lambda: content(tmp_path / "child"), 180))
    hanging = int(eventually(lambda: content(tmp_path / "agent")))
    server = server_pid(state)

    other = run_buildloop(
        "run", "second", *common, "--test", "test -e two.txt", "--agent-command", "touch two.txt", "--json"
    )
    assert other.returncode == 0, other.stderr
    assert server_pid(state) == server
    assert alive(server)

    first.send_signal(signal.SIGINT)
    told, _ = first.communicate(timeout=400)
    assert first.returncode == 130, told
    assert "Traceback" not in told
    assert "buildloop resume" in told
    eventually(lambda: not alive(hanging) and not alive(child))
    eventually(lambda: not alive(server))
    assert processes_with(str(state)) == []

    (stopped,) = (run for run in (state / "runs").iterdir() if run.name != json.loads(other.stdout)["run_id"])
    resumed = run_buildloop("resume", stopped.name, "--json", "--state-dir", str(state))
    assert resumed.returncode == 0, resumed.stderr
    result = json.loads(resumed.stdout)
    assert (result["reason"], result["iterations"]) == ("complete", 2)
    assert content(tmp_path / "calls").count("call") == 3
    assert checkout_state(repo) == before
    eventually(lambda: processes_with(str(state)) == [])


def test_sigkill_leaves_no_server_and_no_gate(repo, tmp_path):
    """The command gets no chance to clean up. The gate hangs in its first run, with a child that left its session.

    For the agent it is the same guard: tests/core/test_process.py kills buildloop itself there.
    """
    state = tmp_path / "state"
    gate = f"setsid sleep 600 & echo $! > {tmp_path}/child; echo $$ > {tmp_path}/gate; sleep 600"
    common = ("--repo", str(repo), "--state-dir", str(state))
    killed = begin("run", "goal", *common, "--test", gate, "--agent-command", "true")
    pids = [int(eventually(lambda name=name: content(tmp_path / name), 180)) for name in ("child", "gate")]
    pids.append(server_pid(state))
    assert all(alive(pid) for pid in pids)
    killed.kill()
    killed.wait()
    eventually(lambda: not any(alive(pid) for pid in pids))
    eventually(lambda: processes_with(str(state)) == [])
    (listed,) = json.loads(run_buildloop("status", "--json", "--state-dir", str(state)).stdout)
    assert listed["state"] == "interrupted"
