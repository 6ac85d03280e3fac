"""The topology of a team on loopback: PostgreSQL, a Prefect server on it, and process workers that share a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from buildloop.cli.prefect_api import PATIENT
from tests.support.postgres import free_port, postgres
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]


@dataclass
class Stack:
    """`folder` is what all workers share: state, repositories, agents."""

    folder: Path
    api: str
    environment: dict[str, str]
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def ui(self) -> str:
        return self.api.removesuffix("/api")

    @property
    def state(self) -> Path:
        return Path(self.environment["BUILDLOOP_STORAGE"])

    def prefect(self, *arguments: str, timeout: float = 400) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "prefect", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def buildloop(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command as it is typed on a machine that knows nothing of the server but what the runs say."""
        environment = {name: self.environment[name] for name in self.environment if name != "PREFECT_API_URL"}
        return subprocess.run(
            [sys.executable, "-m", "buildloop.cli.main", *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )

    def watch(self, deployment: str, request: Mapping[str, Any]) -> subprocess.Popen[str]:
        """`prefect deployment run … --watch`, in the background."""
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "prefect", "deployment", "run", deployment, "--watch"),
                *("--param", f"request={json.dumps(request)}"),
            ],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(
            f"{self.api}{path}", data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(asked, timeout=120) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            if error.code >= 500:
                error.add_note(self.logs())
            raise
        return json.loads(text) if text else None

    def logs(self) -> str:
        """The last lines of all that is up, for whoever looks at a test that failed."""
        return "\n".join(f"{path}:\n{path.read_text()[-2000:]}" for path in self.folder.glob("*.log"))

    def start(self, deployment: str, parameters: Mapping[str, Any], **more: Any) -> str:
        """A flow run of a deployment; its id."""
        known = self.ask(f"/deployments/name/{deployment}")
        made = self.ask(
            f"/deployments/{known['id']}/create_flow_run", {"parameters": dict(parameters), **more}
        )
        return str(made["id"])

    def run(self, flow_run: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask(f"/flow_runs/{flow_run}")
        return found

    def ended(self, flow_run: str, seconds: float = 300) -> dict[str, Any]:
        final = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}
        return eventually(
            lambda: found if (found := self.run(flow_run))["state_type"] in final else None, seconds
        )

    def start_worker(self, name: str) -> None:
        with (self.folder / f"worker-{name}.log").open("ab") as log:
            self.workers[name] = subprocess.Popen(
                [
                    *(sys.executable, "-m", "prefect", "worker", "start"),
                    *("--pool", "buildloop", "--name", name, "--type", "process"),
                ],
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill_worker(self, name: str) -> None:
        """As if its machine lost power: the worker and everything it started, at once."""
        kill_with_children(self.workers.pop(name))


def kill_with_children(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        top = psutil.Process(process.pid)
        for each in [top, *top.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        process.wait(60)


@contextmanager
def team_stack(programs: Path, folder: Path) -> Iterator[Stack]:
    """PostgreSQL and a server with an empty work pool; workers are started by whoever needs them."""
    with ExitStack() as cleanup:
        database = cleanup.enter_context(postgres(programs, folder))
        port = free_port()
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PREFECT_", "_BUILDLOOP"))
        }
        environment = {
            **kept,
            **PATIENT,
            "DO_NOT_TRACK": "1",
            "COLUMNS": "400",
            "PREFECT_HOME": str(folder / "prefect"),
            "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": database,
            "PREFECT_SERVER_LOGS_STREAM_OUT_ENABLED": "true",
            "PREFECT_SERVER_LOGS_STREAM_PUBLISHING_ENABLED": "true",
            "PREFECT_SERVER_EVENTS_PROACTIVE_GRANULARITY": "PT1S",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
            "BUILDLOOP_STORAGE": str(folder / "shared"),
            "PYTHONPATH": str(ROOT),
        }
        stack = Stack(folder, environment["PREFECT_API_URL"], environment)
        cleanup.enter_context(_server(stack, port))
        stack.ask("/work_pools/", {"name": "buildloop", "type": "process"})
        try:
            yield stack
        finally:
            for name in list(stack.workers):
                stack.kill_worker(name)


@contextmanager
def _server(stack: Stack, port: int) -> Iterator[None]:
    with (stack.folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)],
            cwd=stack.folder,
            env=stack.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        eventually(lambda: _healthy(stack, server), 300)
        yield
    finally:
        kill_with_children(server)


def _healthy(stack: Stack, server: subprocess.Popen[bytes]) -> bool:
    assert server.poll() is None, stack.logs()
    try:
        return bool(stack.ask("/health"))
    except OSError:
        return False
