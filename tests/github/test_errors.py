"""What GitHub refuses is said in one sentence that tells what to do; what passes is waited out."""

from __future__ import annotations

import pytest
import requests

from buildloop.errors import GithubError
from buildloop.github.client import connect, speaking_of
from buildloop.github.issue import read_brief
from buildloop.github.publish import Access
from buildloop.github.repository import GithubRepo
from tests.support.github_server import TOKEN

ISSUE = r"/repos/ada/shop/issues/12"


def read(access):
    return read_brief(connect(access.repo, access.token), access.repo, 12)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(
    ("status", "headers", "sentence"),
    [
        (401, {}, r"refuses the token \(401\).*GITHUB_TOKEN"),
        (404, {}, r"as issue #12 in ada/shop, or the token may not see it \(404\)"),
        (410, {}, r"issue #12 in ada/shop was deleted"),
        (
            403,
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1792224060"},
            r"rate limit .* until \d\d:\d\d UTC",
        ),
        (429, {"Retry-After": "42"}, r"rate limit is used up for 42 seconds"),
    ],
)
def test_each_refusal_has_its_sentence(hub, access, status, headers, sentence):
    hub.add_issue(12, "Totals", "x")
    hub.trouble("GET", ISSUE, status, headers=headers)
    with pytest.raises(GithubError, match=sentence):
        read(access)
    assert hub.said("GET", ISSUE) == 1


def test_a_missing_permission_is_told_from_a_limit(access):
    from github import GithubException

    with (
        pytest.raises(GithubError, match="may read and write issues, contents and pull requests"),
        speaking_of("a comment", access.repo),
    ):
        raise GithubException(403, {"message": "Resource not accessible by integration"}, {})


@pytest.mark.usefixtures("environment")
def test_a_server_error_that_passes_is_not_even_noticed(hub, access):
    hub.add_issue(12, "Totals", "x")
    hub.trouble("GET", ISSUE, 502)
    hub.trouble("GET", ISSUE, 503)
    assert read(access).goal == "Totals\n\nx"


@pytest.mark.usefixtures("environment")
def test_a_server_error_that_stays_is_said(hub, access):
    for _ in range(6):
        hub.trouble("GET", ISSUE, 503)
    with pytest.raises(GithubError, match="cannot answer at the moment"):
        read(access)


@pytest.mark.usefixtures("environment")
def test_a_server_that_is_not_there_is_said(hub):
    gone = Access(GithubRepo("127.0.0.1:9", "ada", "shop", "http://127.0.0.1:9"), TOKEN)
    with pytest.raises(GithubError, match=r"http://127\.0\.0\.1:9 cannot be reached"):
        read(gone)


def test_no_sentence_holds_the_token(access):
    with pytest.raises(GithubError) as caught, speaking_of("x", access.repo):
        raise requests.ConnectionError(f"https://x-access-token:{TOKEN}@github.com refused")
    assert TOKEN not in str(caught.value)
