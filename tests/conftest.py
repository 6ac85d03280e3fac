"""Shared by all tests: a sample repository, a request, and one Prefect server for those that need one."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from buildloop.request import BuildRequest, new_run_id
from buildloop.result import BuildResult
from tests.support.repos import GREEN, make_repo

TEAM = "tests/team/"

os.environ["DO_NOT_TRACK"] = "1"
for name in [name for name in os.environ if name.startswith(("BUILDLOOP_", "PREFECT_", "GIT_"))]:
    del os.environ[name]

# A few examples while working; `make test` asks for `--hypothesis-profile=thorough`.
settings.register_profile("quick", max_examples=20, deadline=None)
settings.register_profile("thorough", max_examples=200, deadline=None)
settings.load_profile("quick")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, because all workers wait for one that begins last: those on the stack of a team, which mostly
    wait, then those with a server, then the other slow ones."""

    def rank(item: pytest.Item) -> tuple[bool, ...]:
        marked = (item.get_closest_marker(name) is None for name in ("server", "slow"))
        return not item.nodeid.startswith(TEAM), *marked

    first = {item.path: rank(item) for item in items}
    for item in items:
        first[item.path] = min(first[item.path], rank(item))
    items.sort(key=lambda item: first[item.path])


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """A file at a time, so that its fixtures are made once; the files that share the stack of a team count as one."""
    from xdist.scheduler import LoadFileScheduling

    class ByFixtures(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return TEAM if file.startswith(TEAM) else file

    return ByFixtures(config, log)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """New folders, one for each test: pytest's own would look through all earlier ones every time."""
    root = tmp_path_factory.mktemp("homes")
    return (root / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's own configuration leaks in, nothing of ours leaks out."""
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a bug: `add` subtracts, and its one test says so."""
    return make_repo(tmp_path / "repo", GREEN | {"calc.py": "def add(a, b):\n    return a - b\n"})


@pytest.fixture
def request_for(tmp_path: Path) -> Callable[..., BuildRequest]:
    """Makes valid requests; keyword arguments replace single fields."""

    def make(repo: Path, **changes: object) -> BuildRequest:
        fields: dict[str, object] = {
            "goal": "make the tests pass",
            "repo": str(repo),
            "test": ("python -m unittest -q",),
            "agent_command": "true",
            "state_dir": str(tmp_path / "state"),
            "run_id": new_run_id(),
            "retry_delay": 0,
        }
        return BuildRequest.model_validate({**fields, **changes})

    return make


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One real server for the whole session: the one the product itself embeds. Whoever comes first starts it, and the
    other processes of `pytest -n` share it, as commands do; it goes with the last of them.

    Flow runs in this process send no heartbeats: each would wait up to a second at its end for the thread that does.
    """
    from buildloop.cli.prefect_api import start_prefect

    os.environ["PREFECT_LOGGING_LEVEL"] = "ERROR"
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    url = start_prefect(shared / "server", verbose=True).wait().url
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield url


@pytest.fixture
def buildloop(prefect_server: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command as a user types it, against the shared server."""
    from tests.support.command import run_buildloop

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        return run_buildloop(*arguments, api_url=prefect_server, **options)

    return run


@pytest.fixture
def build(prefect_server: str) -> Callable[[BuildRequest], BuildResult]:
    """Run the flow to its end; whatever it returns or raises comes out."""

    def run(request: BuildRequest) -> BuildResult:
        from flows.build_loop import build_loop

        outcome = build_loop(request, return_state=True).result(raise_on_failure=False)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return run
