"""A GitHub of our own, and a checkout whose remote is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from buildloop.github.publish import Access
from buildloop.github.repository import GithubRepo
from buildloop.models import WorkspaceInfo
from buildloop.report.facts import RunFacts
from tests.support import runs
from tests.support.github_server import REPO, TOKEN, Hub, github_server
from tests.support.repos import commit_all, git, write_files


@pytest.fixture
def hub() -> Iterator[Hub]:
    with github_server() as served:
        yield served


@pytest.fixture
def access(hub: Hub) -> Access:
    owner, name = REPO.split("/")
    return Access(GithubRepo(hub.url.removeprefix("http://"), owner, name, hub.url, chosen=True), TOKEN)


@pytest.fixture
def remote(hub: Hub, repo: Path, tmp_path: Path) -> Path:
    """The checkout `repo` cloned to GitHub: a bare repository behind the server, and a remote that points to it."""
    hub.bare = tmp_path / "hub.git"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(hub.bare))
    git(hub.bare, "config", "http.receivepack", "true")
    git(repo, "remote", "add", "origin", f"{hub.url}/{REPO}.git")
    return repo


@pytest.fixture
def environment(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What a user has set; also in this process."""
    given = {"GITHUB_API_URL": hub.url, "GITHUB_TOKEN": TOKEN}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("buildloop.github.comment.WAIT_SECONDS", 0.01)
    monkeypatch.setattr("buildloop.github.client.AGAIN.backoff_factor", 0.01)
    return given


@pytest.fixture
def done(hub, remote) -> RunFacts:
    """A complete run whose branch really exists in the checkout."""
    hub.add_issue(12, "Totals lack VAT", "x")
    start, branch = git(remote, "rev-parse", "HEAD"), "buildloop/1116-081502-3fa9"
    git(remote, "checkout", "-q", "-b", branch)
    write_files(remote, {"calc.py": "def add(a, b):\n    return a + b\n"})
    commit_all(remote, "buildloop: iteration 1")
    git(remote, "checkout", "-q", "main")
    found = runs.complete()
    workspace = WorkspaceInfo(
        root="/none",
        workdir="/none",
        branch=branch,
        start_commit=start,
        start_tree="t",
        repo=str(remote),
        repo_id="i",
    )
    return replace(found, request=found.request.model_copy(update={"issue": 12}), workspace=workspace)
