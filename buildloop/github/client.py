"""Talks to GitHub's REST API. What goes wrong comes out as one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import requests
from github import Auth, BadAttributeException, Github, GithubException
from urllib3.util import Retry

from buildloop.errors import GithubError
from buildloop.github.repository import GithubRepo, token_advice
from buildloop.text import one_line

if TYPE_CHECKING:
    from github.Repository import Repository

TIMEOUT_SECONDS = 20
PAGE = 100
# Only what may be said twice is said again by itself; a POST that came through would make a second comment.
AGAIN = Retry(
    total=3,
    status_forcelist=(500, 502, 503, 504),
    allowed_methods=("GET", "PATCH"),
    backoff_factor=0.5,
    respect_retry_after_header=False,
    raise_on_status=False,
)


def connect(repo: GithubRepo, token: str) -> Repository:
    """The repository to ask; nothing is asked yet."""
    hub = Github(
        base_url=repo.api_url,
        auth=Auth.Token(token) if token else None,
        timeout=TIMEOUT_SECONDS,
        per_page=PAGE,
        retry=AGAIN,
        user_agent="buildloop",
        seconds_between_requests=0,
        seconds_between_writes=0,
    )
    return hub.get_repo(repo.full_name, lazy=True)


@contextmanager
def speaking_of(what: str, repo: GithubRepo) -> Iterator[None]:
    """Turns what PyGithub and the network raise into a sentence about `what`."""
    try:
        yield
    except GithubException as error:
        raise GithubError(_sentence(error, what, repo)) from error
    except requests.RequestException as error:
        reason = type(error).__name__
        guessed = "" if repo.is_meant else ", and whether GITHUB_API_URL should name another address"
        raise GithubError(
            f"{repo.api_url} cannot be reached ({reason}); check the network{guessed}, and try again"
        ) from error


def _sentence(error: GithubException, what: str, repo: GithubRepo) -> str:
    said, status = _message(error), error.status
    if isinstance(error, BadAttributeException):
        return f"{repo.api_url} does not answer as GitHub does; check GITHUB_API_URL"
    if (until := _limited_until(error)) and status in (403, 429):
        return f"GitHub's rate limit is used up {until}; try again then, or use another token"
    refused = {
        401: f"GitHub refuses the token (401): it is wrong, expired or revoked; {token_advice(repo)}",
        403: f"GitHub does not allow {what} (403: {said}); {token_advice(repo)}",
        404: f"GitHub finds no such thing as {what} in {repo.full_name}, or the token may not see it (404)",
        410: f"GitHub says that {what} in {repo.full_name} was deleted (410)",
    }
    busy = f"GitHub cannot answer at the moment ({status}); try again later"
    otherwise = busy if status >= 500 else f"GitHub did not take {what} ({status}: {said})"
    return refused.get(status, otherwise)


def _limited_until(error: GithubException) -> str:
    """When GitHub answers again, if a rate limit (or its second one, against abuse) is what stopped us."""
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    if (wait := str(headers.get("retry-after", ""))).isdigit():
        return f"for {wait} seconds"
    if headers.get("x-ratelimit-remaining") == "0" or "rate limit" in _message(error).lower():
        reset = str(headers.get("x-ratelimit-reset", ""))
        at = f"{datetime.fromtimestamp(int(reset), UTC):%H:%M} UTC" if reset.isdigit() else "later"
        return f"until {at}"
    return ""


def _message(error: GithubException) -> str:
    """What GitHub says, with the details of a refused field."""
    data = error.data if isinstance(error.data, dict) else {"message": str(error.data or "no reason given")}
    details = [one.get("message", "") for one in data.get("errors", ()) if isinstance(one, dict)]
    return one_line(": ".join(filter(None, [str(data.get("message", "")), *details])), 200)
