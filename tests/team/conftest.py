"""One team stack for all tests of this folder: PostgreSQL, server, `prefect deploy --all`, two workers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgres import postgres_programs
from tests.support.repos import GREEN, make_repo
from tests.support.scripts import WRITE_FIX, write_script, wrong
from tests.support.stack import Stack, team_stack

HERE = Path(__file__).parent
# Longer than the 30 seconds between two heartbeats, shorter than the 90 of the shipped automation.
ZOMBIE_SECONDS = 40


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.server)


@pytest.fixture(scope="package")
def notices() -> Iterator[tuple[str, list[str]]]:
    """A webhook on loopback, and what came in."""
    received: list[str] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            received.append(json.loads(self.rfile.read(length))["text"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing: the test's own output is enough."""

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", received
        server.shutdown()


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory, notices: tuple[str, list[str]]) -> Iterator[Stack]:
    programs = postgres_programs()
    if programs is None:
        pytest.skip("no PostgreSQL with pg_trgm is installed here (Debian: postgresql)")
    folder = tmp_path_factory.mktemp("team")
    with team_stack(programs, folder) as stack:
        with ThreadPoolExecutor() as together:
            deployed = together.submit(stack.prefect, "--no-prompt", "deploy", "--all")
            applied = together.submit(_apply_automations, stack, notices[0])
            for name in ("one", "two"):
                stack.start_worker(name)
            assert deployed.result().returncode == 0, deployed.result().stdout + deployed.result().stderr
            applied.result()
        yield stack


def _apply_automations(stack: Stack, hook: str) -> None:
    """The shipped ones, as `make deploy` applies them."""
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from deployments.apply import apply_automations

    said = {"BUILDLOOP_NOTIFY_URL": hook, "BUILDLOOP_ZOMBIE_SECONDS": str(ZOMBIE_SECONDS)}
    with temporary_settings({PREFECT_API_URL: stack.api}), get_client(sync_client=True) as client:
        apply_automations(client, said)


@pytest.fixture(scope="package")
def asking(stack: Stack) -> str:
    """A flow run that has used up its one iteration and asks a person; the hint `turn the sign` is what it needs."""
    rules = ({"when": {"prompt": "turn the sign"}, "do": [WRITE_FIX]}, {"do": [wrong(1)]})
    request = sample_request(stack, "asking", *rules, max_iterations=1, extension_size=0, human=True)
    return stack.start("build-loop/on-demand", {"request": request})


def sample_request(stack: Stack, name: str, *rules: dict[str, Any], **changes: Any) -> dict[str, Any]:
    place = stack.folder / name
    repo = make_repo(place / "repo", GREEN | {"calc.py": "def add(a, b):\n    return a - b\n"})
    script = write_script(place / "agent.json", *rules)
    return {
        "goal": "make the tests pass",
        "repo": str(repo),
        "test": ["python -m unittest -q"],
        "agent": "scripted",
        "agent_script": str(script),
        "retry_delay": 0,
        **changes,
    }
