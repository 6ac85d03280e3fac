"""The run's one pull request: opened once, afterwards only our part of its text is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from github import UnknownObjectException

from buildloop.github.comment import MARK, once

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository

END = f"{MARK} end -->"


@dataclass(frozen=True, slots=True)
class PullText:
    """`branch` is what shall be merged, `wanted_base` where the user was when the run ended."""

    run_id: str
    branch: str
    wanted_base: str | None
    title: str
    body: str

    @property
    def begin(self) -> str:
        return f"{MARK} run {self.run_id} -->"

    @property
    def marked(self) -> str:
        """Our part between its marks; what looks like a mark inside, in a goal or a log, is none."""
        body = self.body.strip().replace(MARK, MARK.replace("-", "\u2010"))
        return f"{self.begin}\n{body}\n{END}\n"


def upsert_pull(repository: Repository, owner: str, text: PullText) -> PullRequest:
    def find() -> PullRequest | None:
        """Also one that a person has closed: it is not our place to open another."""
        pulls = list(repository.get_pulls(state="all", head=f"{owner}:{text.branch}"))
        return next((one for one in pulls if one.state == "open"), pulls[0] if pulls else None)

    def make() -> PullRequest:
        return repository.create_pull(
            base=base_branch(repository, text), head=text.branch, title=text.title, body=text.marked
        )

    pull = once(find, make)
    body = with_our_part(pull.body or "", text)
    if body != (pull.body or ""):
        pull.edit(body=body)
    return pull


def base_branch(repository: Repository, text: PullText) -> str:
    """Where the user works, if GitHub knows that branch, else the default one."""
    if text.wanted_base and text.wanted_base != text.branch:
        try:
            return repository.get_branch(text.wanted_base).name
        except UnknownObjectException:
            pass
    repository.update()
    return repository.default_branch


def with_our_part(body: str, text: PullText) -> str:
    """What people wrote around our part stays; where they removed it, nothing is put back. Where they removed only its
    end nobody can tell what is theirs: all of it stays, and ours follows."""
    if text.begin not in body:
        return body if body.strip() else text.marked
    upto, end, after = body.rpartition(END)
    before, begin, _ = upto.rpartition(text.begin)
    if not (begin and end):
        return f"{body.rstrip()}\n\n{text.marked}"
    return f"{before}{text.marked.rstrip()}{after}"
