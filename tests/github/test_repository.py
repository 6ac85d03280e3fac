"""Which repository, which API, which token."""

from __future__ import annotations

import pytest

from buildloop.errors import GithubError
from buildloop.github.push import place_environment
from buildloop.github.repository import GithubRepo, parse_remote, repository_for, token_advice, token_for
from tests.support.repos import git


@pytest.mark.parametrize(
    ("url", "host", "name"),
    [
        ("git@github.com:ada/shop.git", "github.com", "ada/shop"),
        ("org-42@github.com:ada/shop.git", "github.com", "ada/shop"),
        ("https://github.com/ada/shop", "github.com", "ada/shop"),
        ("https://github.com/ada/shop.git/", "github.com", "ada/shop"),
        ("https://someone:secret@github.com/ada/shop.git", "github.com", "ada/shop"),
        ("ssh://git@github.com/ada/shop.git", "github.com", "ada/shop"),
        ("ssh://git@ssh.github.com:443/ada/shop.git", "github.com", "ada/shop"),
        ("git@ghe.example.org:ada/shop.js.git", "ghe.example.org", "ada/shop.js"),
        ("https://ghe.example.org:8443/ada/shop.git", "ghe.example.org:8443", "ada/shop"),
    ],
)
def test_every_usual_form_of_a_remote_is_understood(url, host, name):
    found = parse_remote("origin", url)
    assert (found.host, found.full_name) == (host, name)


@pytest.mark.parametrize(
    "url",
    [
        "/srv/git/shop.git",
        "../shop",
        "file:///srv/git/shop.git",
        "https://github.com/shop",
        "C:\\repos\\shop",
    ],
)
def test_what_is_not_on_a_server_with_owners_is_no_github_repository(url):
    assert parse_remote("origin", url) is None


def test_the_remote_says_which_repository(repo):
    git(repo, "remote", "add", "fork", "git@github.com:eve/shop.git")
    git(repo, "remote", "add", "origin", "git@github.com:ada/shop.git")
    found = repository_for(repo, None, {})
    assert (found.full_name, found.api_url) == ("ada/shop", "https://api.github.com")


def test_what_was_named_wins_over_the_remote(repo):
    git(repo, "remote", "add", "origin", "git@ghe.example.org:ada/shop.git")
    found = repository_for(repo, "bob/store", {})
    assert (found.full_name, found.api_url) == ("bob/store", "https://ghe.example.org/api/v3")


def test_a_remote_on_the_github_that_is_meant_counts_before_origin_elsewhere(repo):
    """`origin` is a mirror; the issue and the token belong to the other remote."""
    git(repo, "remote", "add", "origin", "https://gitlab.example/ada/mirror.git")
    git(repo, "remote", "add", "hub", "git@github.com:ada/shop.git")
    for given in (None, "ada/shop", "bob/store"):
        found = repository_for(repo, given, {})
        assert (found.host, found.api_url) == ("github.com", "https://api.github.com")
        assert found.full_name == (given or "ada/shop")
    named = {"GITHUB_API_URL": "https://gitlab.example/api/v3"}
    assert repository_for(repo, None, named).full_name == "ada/mirror"


def test_the_server_of_a_named_repository_is_where_its_remote_is(repo):
    git(repo, "remote", "add", "origin", "git@github.com:eve/fork.git")
    git(repo, "remote", "add", "work", "https://ghe.example.org/ada/shop.git")
    assert repository_for(repo, "ada/shop", {}).api_url == "https://ghe.example.org/api/v3"


def test_a_host_that_only_ssh_knows_is_never_asked(repo):
    git(repo, "remote", "add", "origin", "git@github-work:ada/shop.git")
    with pytest.raises(GithubError, match=r"'github-work'.*name of ssh.*GITHUB_API_URL"):
        repository_for(repo, None, {})
    told = repository_for(repo, None, {"GITHUB_API_URL": "https://api.github.com"})
    assert (told.full_name, told.host) == ("ada/shop", "github.com")
    assert repository_for(repo, "ada/shop", {}).api_url == "https://api.github.com"


@pytest.mark.parametrize(
    ("url", "ours"),
    [
        ("https://ghe.example.org:8443/ada/shop.git", True),
        ("git@ghe.example.org:Ada/Shop.git", True),
        ("https://ghe.example.org/ada/shop.git", False),
        ("https://gitlab.example/ada/shop.git", False),
        ("git@ghe.example.org:eve/shop.git", False),
        ("git@ghe:ada/shop.git", False),
    ],
)
def test_only_a_remote_on_the_same_server_is_for_the_repository(url, ours):
    repo = GithubRepo("ghe.example.org:8443", "ada", "shop", "https://ghe.example.org:8443/api/v3")
    assert parse_remote("origin", url).is_for(repo) is ours


def test_the_token_goes_into_no_address_that_can_be_overheard():
    def shown(url: str) -> bool:
        return any("Authorization" in value for value in place_environment(url, "secret", {}).values())

    assert shown("https://github.com/ada/shop.git")
    assert shown("http://127.0.0.1:80/ada/shop.git")
    assert not shown("http://github.com/ada/shop.git")
    assert not shown("git@github.com:ada/shop.git")


def test_in_ci_without_a_remote_the_environment_says_it(repo):
    given = {"GITHUB_REPOSITORY": "ada/shop", "GITHUB_SERVER_URL": "https://ghe.example.org"}
    assert repository_for(repo, None, given).api_url == "https://ghe.example.org/api/v3"


def test_without_any_hint_the_sentence_names_the_option(repo):
    with pytest.raises(GithubError, match=r"--github-repo OWNER/NAME"):
        repository_for(repo, None, {})


def test_an_api_address_without_encryption_is_refused_unless_it_is_this_machine(repo):
    with pytest.raises(GithubError, match="https://"):
        repository_for(repo, "ada/shop", {"GITHUB_API_URL": "http://ghe.example.org/api/v3"})
    assert repository_for(repo, "ada/shop", {"GITHUB_API_URL": "http://127.0.0.1:80"}).api_url


def test_a_token_for_github_is_not_shown_to_another_host(repo):
    """A remote may name any host; what the user set for github.com must not go there."""
    git(repo, "remote", "add", "origin", "https://ghe.example.org/ada/shop.git")
    found = repository_for(repo, None, {})
    assert token_for(found, {"GITHUB_TOKEN": "a", "GH_TOKEN": "b"}) == ""
    assert token_for(found, {"GITHUB_TOKEN": "a", "GH_ENTERPRISE_TOKEN": "c"}) == "c"
    assert "GH_ENTERPRISE_TOKEN" in token_advice(found)
    assert "secret block" not in token_advice(found)
    meant = {"GITHUB_API_URL": "https://ghe.example.org/api/v3", "GITHUB_TOKEN": "a"}
    assert token_for(repository_for(repo, None, meant), meant) == "a"


def test_both_names_of_the_token_count_and_the_first_wins(repo):
    found = repository_for(repo, "ada/shop", {})
    assert token_for(found, {"GH_TOKEN": "b"}) == "b"
    assert token_for(found, {"GH_TOKEN": "b", "GITHUB_TOKEN": " a "}) == "a"
