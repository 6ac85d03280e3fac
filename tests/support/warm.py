"""The `buildloop` command without the seconds of its imports: a process that has made them forks one for every call.

What is forked is the command in every other respect: a process with the given arguments, environment, folder and
streams that ends as Python ends. Prefect, which reads its settings when it is imported, is imported by the command.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What Prefect needs of others; it costs about as much as Prefect itself.
OF_PREFECT = (
    "anyio asyncio fsspec griffe httpx jsonschema opentelemetry.metrics pendulum prometheus_client websockets"
)
LONGEST = 1 << 20


class Warm:
    """The client's side. One command at a time: who wants several at once starts them afresh."""

    def __init__(self) -> None:
        self._channel, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._calls = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.warm", str(far.fileno())],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            pass_fds=[far.fileno()],
            stdin=subprocess.DEVNULL,
        )
        far.close()

    def close(self) -> None:
        self._channel.close()
        self._process.wait()

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], folder: Path, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        with self._calls, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            asked = json.dumps([list(arguments), dict(environment), str(folder)]).encode()
            socket.send_fds(self._channel, [asked], [out.fileno(), err.fileno()])
            self._channel.settimeout(60)
            pid = int(self._channel.recv(LONGEST))
            self._channel.settimeout(timeout)
            try:
                code = int(self._channel.recv(LONGEST))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._channel.settimeout(60)
                self._channel.recv(LONGEST)
                raise subprocess.TimeoutExpired(list(arguments), timeout) from None
            return subprocess.CompletedProcess(
                list(arguments), code, _text(out.fileno()), _text(err.fileno())
            )


@functools.cache
def warm() -> Warm:
    made = Warm()
    atexit.register(made.close)
    return made


def _text(descriptor: int) -> str:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode().replace("\r\n", "\n")


def _preload() -> None:
    import buildloop

    for module in pkgutil.walk_packages(buildloop.__path__, "buildloop."):
        if not {"demo", "__main__", "guard", "server_child"} & {*module.name.split(".")}:
            importlib.import_module(module.name)
    for name in OF_PREFECT.split():
        importlib.import_module(name)
    assert "prefect" not in sys.modules
    assert threading.active_count() == 1
    gc.freeze()


def _serve(channel: socket.socket) -> None:
    """Returns in a process that is to be the command."""
    while True:
        asked, streams, _, _ = socket.recv_fds(channel, LONGEST, 2)
        if not asked:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            channel.close()
            _become(*json.loads(asked), streams)
            return
        for descriptor in streams:
            os.close(descriptor)
        channel.send(str(pid).encode())
        channel.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


def _become(arguments: list[str], environment: dict[str, str], folder: str, streams: list[int]) -> None:
    for target, descriptor in enumerate(streams, 1):
        os.dup2(descriptor, target)
        os.close(descriptor)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = [str(ROOT / "buildloop" / "cli" / "main.py"), *arguments]
    sys.path[0] = folder
    tempfile.tempdir = None
    random.seed()


if __name__ == "__main__":
    _preload()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    from buildloop.cli.main import main

    main()
