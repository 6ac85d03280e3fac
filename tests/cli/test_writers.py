"""Who may write: two runs in one repository, one process on one run, nobody on a full disk."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from buildloop.goal import read_state
from tests.support.command import command_environment, run_buildloop
from tests.support.repos import every_file, git
from tests.support.waiting import content, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow]


def start(api_url: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "buildloop.cli.main", *arguments],
        env=command_environment(api_url),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def test_pitfall_46_a_second_run_is_allowed_and_a_second_writer_is_refused(prefect_server, repo, tmp_path):
    """The first run waits in its agent; the second one runs beside it to its end; nobody else may have the first."""
    flag, state = tmp_path / "go", str(tmp_path / "state")
    waiting = f"sh -c 'echo up >> {tmp_path}/up; while [ ! -e {flag} ]; do sleep 0.1; done; echo 1 > one.txt'"
    common = ("--repo", str(repo), "--state-dir", state, "--test", "test -e one.txt -o -e two.txt")
    first = start(prefect_server, "run", "first", *common, "--agent-command", waiting)
    try:
        eventually(lambda: content(tmp_path / "up"))
        (held,) = (tmp_path / "state" / "runs").iterdir()
        second = run_buildloop(
            "run", "second", *common, "--agent-command", "touch two.txt", api_url=prefect_server
        )
        assert second.returncode == 0, second.stdout
        before = every_file(held)
        refused = run_buildloop(
            "resume", held.name, "--max-iterations", "99", "--state-dir", state, api_url=prefect_server
        )
        assert refused.returncode == 2
        assert (refused.stdout, len(refused.stderr.splitlines())) == ("", 1)
        assert f"is being worked on by process {first.pid}" in refused.stderr
        assert every_file(held) == before
    finally:
        flag.touch()
        told, _ = first.communicate(timeout=400)
    assert first.returncode == 0, told
    branches = git(repo, "branch", "--list", "buildloop/*", "--format=%(refname:short)").split()
    assert len(branches) == 2
    files = [git(repo, "diff", "--name-only", "main", branch) for branch in branches]
    assert sorted(files) == ["one.txt", "two.txt"]
    assert content(tmp_path / "up") == "up\n"


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 110 MB of its own; skipped where mounting is not allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=110m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_stops_cleanly_with_the_previous_state_intact(prefect_server, repo, small_disk):
    """The agent fills the disk; the state after the baseline stays; with space again the run goes on."""
    hog = f"sh -c 'head -c 20000000 /dev/zero > {small_disk}/hog; touch done.txt'"
    common = ("--repo", str(repo), "--state-dir", str(small_disk), "--test", "test -e done.txt")
    ended = run_buildloop("run", "g", *common, "--agent-command", hog, api_url=prefect_server)
    assert ended.returncode == 1, ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert "free at least 100 MB and resume" in ended.stderr
    (run,) = (small_disk / "runs").iterdir()
    kept = read_state(run / "loop-state.md")
    assert (kept.iteration, kept.original_goal) == (0, "g")
    (small_disk / "hog").unlink()
    resumed = run_buildloop("resume", "--json", "--state-dir", str(small_disk), api_url=prefect_server)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["iterations"] == 1
    assert not (small_disk / "hog").exists()


def test_ctrl_c_before_the_flow_has_begun_leaves_a_run_that_can_be_resumed(prefect_server, repo, tmp_path):
    state = tmp_path / "state"
    common = ("--repo", str(repo), "--state-dir", str(state))
    begun = start(prefect_server, "run", "goal", *common, "--test", "test -e x", "--agent-command", "touch x")
    eventually(lambda: list(state.glob("runs/*/request.json")))
    begun.send_signal(signal.SIGINT)
    told, _ = begun.communicate(timeout=400)
    assert begun.returncode == 130, told
    assert "Traceback" not in told
    (listed,) = json.loads(run_buildloop("status", "--json", "--state-dir", str(state)).stdout)
    assert listed["state"] == "cancelled"


@pytest.fixture
def silent_api():
    """A Prefect server that is up and answers nothing but that: a command that uses it never gets to work."""
    over = threading.Event()

    class Silent(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.endswith("/health"):
                over.wait(120)
            self.send_response(200)
            self.end_headers()

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Nothing: the test's own output is enough."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/api"
        over.set()
        server.shutdown()


def test_a_run_that_is_still_starting_can_be_cancelled(silent_api, repo, tmp_path):
    state = tmp_path / "state"
    common = ("--repo", str(repo), "--state-dir", str(state))
    begun = start(silent_api, "run", "goal", *common, "--test", "test -e x", "--agent-command", "touch x")
    eventually(lambda: list(state.glob("runs/*/request.json")))
    (listed,) = json.loads(run_buildloop("status", "--json", "--state-dir", str(state)).stdout)
    assert listed["state"] == "running"
    cancelled = run_buildloop("cancel", "--state-dir", str(state))
    assert (cancelled.returncode, cancelled.stderr) == (0, "")
    told, _ = begun.communicate(timeout=400)
    assert begun.returncode == 130, told
    assert run_buildloop("cancel", "--state-dir", str(state)).returncode == 2
