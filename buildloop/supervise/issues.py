"""Labelled GitHub issues as requests; what became of them is said in comments, each made once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from buildloop.github.client import connect, speaking_of
from buildloop.github.comment import upsert_comment
from buildloop.github.labelled import open_issues
from buildloop.github.publish import Access, access_for
from buildloop.redact import redactor
from buildloop.supervise.source import Item

PREFIX = "issue-"


@dataclass(frozen=True, slots=True)
class IssueSource:
    """Open issues with `label` of the repository that `checkout` belongs to. The run itself reads the issue's text."""

    checkout: Path
    label: str
    defaults: Mapping[str, Any]
    access: Access

    @classmethod
    def of(cls, checkout: Path, label: str, repo: str | None, defaults: Mapping[str, Any]) -> IssueSource:
        return cls(checkout, label, defaults, access_for(checkout, repo, os.environ))

    def items(self) -> list[Item]:
        issues = open_issues(self.access, self.label)
        return [self._item(issue.number, issue.title, issue.body) for issue in issues]

    def say(self, request_id: str, key: str, text: str) -> None:
        number = int(request_id.removeprefix(PREFIX))
        mask = redactor({**os.environ, "GITHUB_TOKEN": self.access.token})
        with speaking_of(f"a comment on issue #{number}", self.access.repo):
            repository = connect(self.access.repo, self.access.token)
            upsert_comment(repository, number, f"{request_id}-{key}", mask(text), None)

    def _item(self, number: int, title: str, body: str) -> Item:
        own = {"repo": str(self.checkout), "issue": number, "github_repo": self.access.repo.full_name}
        digest = sha256(f"{title}\n{body}".encode()).hexdigest()
        return Item(f"{PREFIX}{number}", title, digest, {"goal": "", **self.defaults, **own})
