"""An issue as a goal and its context. The goal is title and text; what others said about it is context."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from buildloop.errors import GithubError
from buildloop.github.client import speaking_of
from buildloop.github.comment import MARK
from buildloop.github.record import heading
from buildloop.github.repository import GithubRepo
from buildloop.goal import LEGACY_MARKERS
from buildloop.models import Frozen
from buildloop.report.safe import visible
from buildloop.request import BuildRequest

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.IssueComment import IssueComment
    from github.Repository import Repository

MOST_CONTEXT = 12_000
LATEST_COMMENTS = 30
# A reader of the issue does not see these; neither shall the agent. Templates leave them behind, too.
HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
# Where other tools have begun to append to an issue: a line that starts with one of their headings.
APPENDED = re.compile(rf"^[#>*\s-]*(?:{'|'.join(map(re.escape, LEGACY_MARKERS))})", re.M)


class IssueBrief(Frozen):
    """What an issue gives to a run."""

    issue: int
    goal: str
    context: str


def read_brief(repository: Repository, repo: GithubRepo, number: int) -> IssueBrief:
    with speaking_of(f"issue #{number}", repo):
        issue = repository.get_issue(number)
        if issue.pull_request is not None:
            raise GithubError(f"#{number} of {repo.full_name} is a pull request; --issue needs an issue")
        comments = [one for one in issue.get_comments() if not (one.body or "").startswith(MARK)]
        return make_brief(number, issue, comments)


def make_brief(number: int, issue: Issue, comments: list[IssueComment]) -> IssueBrief:
    body, appended = split_appended(_readable(issue.body or ""))
    said = [f"{_author(one)} wrote:\n{_readable(one.body or '')}" for one in comments[-LATEST_COMMENTS:]]
    parts = [*([f"Appended to the issue:\n{appended}"] if appended else []), *said]
    context = f"{heading(number)} {len(comments)} comments\n\n" + "\n\n".join(_latest(parts))
    return IssueBrief(
        issue=number, goal=f"{_readable(issue.title)}\n\n{body}".strip(), context=context.strip()
    )


def with_brief(request: BuildRequest, brief: IssueBrief) -> BuildRequest:
    """A goal the user gave stays theirs; then the issue's own text is context."""
    own = request.goal.strip()
    texts = [request.context.strip(), brief.context]
    if own:
        texts.append(f"The text of the issue:\n{brief.goal}")
    return request.model_copy(
        update={"goal": request.goal if own else brief.goal, "context": "\n\n".join(filter(None, texts))}
    )


def split_appended(body: str) -> tuple[str, str]:
    """The author's words, and what tools have put below them."""
    found = APPENDED.search(body)
    if found is None:
        return body, ""
    return body[: found.start()].strip(), body[found.start() :].strip()


def _readable(text: str) -> str:
    return visible(HIDDEN.sub("", text)).strip()


def _author(comment: IssueComment) -> str:
    name = comment.user.login if comment.user else "someone"
    role = str(comment.author_association or "").lower()
    return f"{name} ({role})" if role and role != "none" else name


def _latest(parts: list[str]) -> list[str]:
    """The newest ones that fit; the first of these may have lost its beginning."""
    kept: list[str] = []
    room = MOST_CONTEXT
    for part in reversed(parts):
        if room <= 0:
            break
        kept.insert(0, part if len(part) <= room else f"{part[:room]}\n[cut]")
        room -= len(part)
    return kept
