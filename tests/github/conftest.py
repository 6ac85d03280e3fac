"""A GitHub of our own, and a checkout whose remote is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from buildloop.github.publish import Access
from buildloop.github.repository import GithubRepo
from tests.support.github_server import REPO, TOKEN, Hub, github_server
from tests.support.repos import git


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
