"""Issues with a label are requests; comments are made once, however often they are said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from buildloop.github.publish import Access
from buildloop.github.repository import GithubRepo
from buildloop.supervise.issues import IssueSource
from buildloop.supervise.ledger import Ledger
from buildloop.supervise.plan import Policy
from buildloop.supervise.tick import look
from tests.supervise.test_decisions import Launched
from tests.support.github_server import REPO, TOKEN, github_server


@pytest.fixture
def hub():
    with github_server() as served:
        served.add_issue(7, "Login fails", "It says 401.")
        served.add_issue(9, "A pull request", "")
        served.issues[9]["pull_request"] = {"url": "x"}
        yield served


@pytest.fixture
def source(hub, tmp_path) -> IssueSource:
    owner, name = REPO.split("/")
    access = Access(GithubRepo(hub.url.removeprefix("http://"), owner, name, hub.url, chosen=True), TOKEN)
    defaults = {"test": ["pytest -q"], "agent_command": "a"}
    return IssueSource(tmp_path, "buildloop", defaults, access)


def test_an_issue_becomes_a_request_that_names_it(source, tmp_path):
    (item,) = source.items()
    assert (item.id, item.title) == ("issue-7", "Login fails")
    assert item.fields["issue"] == 7
    launched, ledger = Launched(), Ledger(tmp_path / "ledger")
    for _ in range(2):
        look(source, ledger, launched, Policy(), datetime.now(UTC))
    assert launched.keys == ["buildloop/supervise/issue-7/1"]


def test_a_comment_is_made_once(source, hub):
    for _ in range(3):
        source.say("issue-7", "retry-1", "Run 1 failed.")
    source.say("issue-7", "end", "Done.")
    assert [one["body"].splitlines()[-1] for one in hub.comments[7]] == ["Run 1 failed.", "Done."]
