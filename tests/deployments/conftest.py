"""One team stack for all tests of this folder: PostgreSQL, server, `prefect deploy --all`, two workers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml

from tests.support.postgres import postgres_programs
from tests.support.repos import GREEN, make_repo
from tests.support.scripts import write_script
from tests.support.stack import Stack, team_stack

# Longer than the 30 seconds between two heartbeats, shorter than the 90 of the shipped automation.
ZOMBIE_SECONDS = 40


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "stack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.server)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    programs = postgres_programs()
    if programs is None:
        pytest.skip("no PostgreSQL with pg_trgm is installed here (Debian: postgresql)")
    folder = tmp_path_factory.mktemp("team")
    with team_stack(programs, folder) as stack:
        with ThreadPoolExecutor() as together:
            deployed = together.submit(stack.prefect, "--no-prompt", "deploy", "--all")
            applied = together.submit(_apply_automations, stack)
            for name in ("one", "two"):
                stack.start_worker(name)
            assert deployed.result().returncode == 0, deployed.result().stdout + deployed.result().stderr
            applied.result()
        yield stack


def _apply_automations(stack: Stack) -> None:
    """The shipped ones, as `make deploy` applies them; only the wait for a dead worker is shorter."""
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from deployments.apply import AUTOMATIONS, apply_automations

    copies = stack.folder / "automations"
    shutil.copytree(AUTOMATIONS, copies)
    zombies = yaml.safe_load((copies / "zombies.yaml").read_text())
    zombies["trigger"]["within"] = ZOMBIE_SECONDS
    (copies / "zombies.yaml").write_text(yaml.safe_dump(zombies))
    with temporary_settings({PREFECT_API_URL: stack.api}), get_client(sync_client=True) as client:
        apply_automations(client, {}, folder=copies)


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
