"""Prefect's own server, started as its users start it; and ours, as a command starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench.place import environment
from buildloop.cli.prefect_api import answers
from tests.support.postgres import free_port

LONGEST_START = 180.0

# What a command does before the flow can begin: the server comes up while Prefect is imported.
EMBEDDED = """
import sys, time
from pathlib import Path
from buildloop.cli.prefect_api import start_prefect, _running_url
folder = Path(sys.argv[1])
starting = start_prefect(folder)
if sys.argv[2] == "server":
    while not _running_url(folder / "prefect"):
        time.sleep(0.01)
else:
    import flows.build_loop
    starting.wait()
print(time.time())
"""


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    pid: int
    seconds: float


@contextmanager
def prefect_server(home: Path) -> Iterator[Server]:
    """`prefect server start` on SQLite in `home`; `seconds` until it answers. It is gone afterwards."""
    home.mkdir(parents=True, exist_ok=True)
    port = free_port()
    url = f"http://127.0.0.1:{port}/api"
    started = time.time()
    with (home / "server.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)],
            env=environment(home, url),
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        while not answers(url):
            if process.poll() is not None or time.time() - started > LONGEST_START:
                raise RuntimeError(f"prefect server start did not come up; see {home / 'server.log'}")
            time.sleep(0.01)
        yield Server(url, process.pid, time.time() - started)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def embedded_start(home: Path, until: str) -> float:
    """Seconds until the embedded server answers (`server`), or until the flow could begin (`flow`)."""
    home.mkdir(parents=True, exist_ok=True)
    started = time.time()
    ran = subprocess.run(
        [sys.executable, "-c", EMBEDDED, str(home / "state"), until],
        env={name: value for name, value in environment(home).items() if name != "PREFECT_HOME"},
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_START,
    )
    seconds = float(ran.stdout.split()[-1]) - started
    _wait_until_gone(home / "state" / "prefect")
    return seconds


def _wait_until_gone(folder: Path) -> None:
    """It goes when its last client has gone; the next measurement shall not meet it."""
    for _ in range(1000):
        if not (folder / "server.json").exists():
            return
        time.sleep(0.02)
