"""The run's one comment on its issue: made once, afterwards changed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import requests
from github import GithubException, UnknownObjectException

if TYPE_CHECKING:
    from github.IssueComment import IssueComment
    from github.Repository import Repository

MARK = "<!-- buildloop"
ATTEMPTS = 3
WAIT_SECONDS = 1.0
T = TypeVar("T")


def run_mark(run_id: str) -> str:
    """Invisible on GitHub; by it the comment is found again when nothing else is left of the run."""
    return f"{MARK} run {run_id} -->"


def upsert_comment(
    repository: Repository, number: int, run_id: str, body: str, known: int | None
) -> IssueComment:
    """Change the run's comment, or make it. Nothing is sent where it says this already."""
    text = f"{run_mark(run_id)}\n{body}"

    def make() -> IssueComment:
        return repository.get_issue(number).create_comment(text)

    def find() -> IssueComment | None:
        return find_comment(repository, number, run_id, known)

    found = once(find, make)
    if found.body != text:
        found.edit(text)
    return found


def find_comment(
    repository: Repository, number: int, run_id: str, known: int | None = None
) -> IssueComment | None:
    issue = repository.get_issue(number)
    if known is not None:
        try:
            return issue.get_comment(known).complete()
        except UnknownObjectException:
            pass  # somebody deleted it; there may be another one, else a new one is made
    comments = issue.get_comments()
    return next((one for one in comments if (one.body or "").startswith(run_mark(run_id))), None)


def once(find: Callable[[], T | None], make: Callable[[], T]) -> T:
    """Make something exactly once: an answer that was lost may still have been a success, so look before each try."""
    for attempt in range(1, ATTEMPTS + 1):
        if (found := find()) is not None:
            return found
        try:
            return make()
        except (GithubException, requests.RequestException) as error:
            if attempt == ATTEMPTS or not _passing(error):
                raise
            time.sleep(WAIT_SECONDS * attempt)
    raise AssertionError("the last attempt returns or raises")


def _passing(error: Exception) -> bool:
    return isinstance(error, requests.RequestException) or (
        isinstance(error, GithubException) and error.status >= 500
    )
