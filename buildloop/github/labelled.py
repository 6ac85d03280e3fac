"""Open issues with a label: what somebody wants to have done."""

from __future__ import annotations

from dataclasses import dataclass

from buildloop.github.client import connect, speaking_of
from buildloop.github.publish import Access


@dataclass(frozen=True, slots=True)
class LabelledIssue:
    number: int
    title: str
    body: str


def open_issues(access: Access, label: str) -> list[LabelledIssue]:
    """Oldest first; GitHub counts pull requests as issues, we do not."""
    with speaking_of(f"issues labelled {label!r}", access.repo):
        found = connect(access.repo, access.token).get_issues(state="open", labels=[label])
        issues = [issue for issue in found if issue.pull_request is None]
        listed = [LabelledIssue(issue.number, issue.title, issue.body or "") for issue in issues]
    return sorted(listed, key=lambda issue: issue.number)
