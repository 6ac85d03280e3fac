"""Prefect's API goes away under a run and comes back: the run waits for it, and nothing is done twice.

A gate between the command and the shared server is closed and opened; the server itself stays up for the other tests.
Prefect's client asks again `PREFECT_CLIENT_MAX_RETRIES` times (5) after 2, 4, 8, 16 and 32 seconds: 62 seconds in all.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest

from tests.support.command import command_environment
from tests.support.waiting import content, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow]


class Gate:
    """Passes connections on to the server while it is open; closed, it cuts them and refuses new ones."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname, parts.port)
        self._pairs: list[socket.socket] = []
        self._listener = self._listen(0)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}{parts.path}"

    def _listen(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(self._server)
                self._pairs += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for one in [self._listener, *self._pairs]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._pairs = []

    def open(self) -> None:
        self._listener = self._listen(self.port)


@pytest.fixture
def gate(prefect_server):
    made = Gate(prefect_server)
    yield made
    made.close()


def refused(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_an_api_that_is_gone_for_a_while_is_waited_for(gate, repo, tmp_path):
    """It goes while the agent works and is back only after the agent has answered."""
    up, go, done = tmp_path / "up", tmp_path / "go", tmp_path / "done"
    agent = f"sh -c 'echo up >> {up}; while [ ! -e {go} ]; do sleep 0.05; done; echo fixed > fixed.txt; touch {done}'"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "buildloop.cli.main", "run", "goal", "--json", "--repo", str(repo)),
            *(
                "--state-dir",
                str(tmp_path / "state"),
                "--test",
                "test -e fixed.txt",
                "--agent-command",
                agent,
            ),
        ],
        env=command_environment(gate.url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    try:
        eventually(lambda: content(up))
        gate.close()
        assert refused(gate.port)
        go.touch()
        eventually(done.exists)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)  # it has met the closed gate by now, and has not given up
        gate.open()
        out, told = process.communicate(timeout=400)
    finally:
        process.kill()
    assert process.returncode == 0, told
    result = json.loads(out)
    assert (result["reason"], result["iterations"]) == ("complete", 1)
    assert content(up) == "up\n"
