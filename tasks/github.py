"""What a run has to do with GitHub: its issue at the start, its comment or pull request at the end.

The library for it takes half a second to load, so only runs that have an issue load it.
"""
# ruff: noqa: PLC0415

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from prefect import get_run_logger, task
from prefect.blocks.system import Secret
from prefect.exceptions import PrefectException

from buildloop.errors import GithubError
from buildloop.github.record import DRY_RUN_FILE, GithubRecord, load_record
from buildloop.github.repository import SECRET_BLOCK
from buildloop.models import Frozen
from buildloop.redact import mask_own, redactor
from buildloop.report.facts import RunFacts, degraded_in
from buildloop.report.write import write_page
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from tasks.options import DURABLE, tell

if TYPE_CHECKING:
    from buildloop.github.publish import Access


class Read(Frozen):
    """Goal and context as they were when the run began: they do not change under it."""

    goal: str
    context: str


@task(name="read_issue", task_run_name="read issue", **DURABLE)
def read_issue(key: str, request: BuildRequest) -> Read:
    from buildloop.github.client import connect
    from buildloop.github.issue import read_brief, with_brief
    from buildloop.github.publish import require_token

    assert request.issue is not None
    access = _access(request)
    if not request.dry_run:
        require_token(access)
    brief = read_brief(connect(access.repo, access.token), access.repo, request.issue)
    filled = with_brief(request, brief)
    RunDir(request.run_dir).events.emit("github.issue_read", issue=request.issue, repo=access.repo.full_name)
    tell(f"read issue #{request.issue}", "github")
    return Read(goal=mask_own(filled.goal), context=mask_own(filled.context))


@task(name="tell_github", task_run_name="tell github")
def tell_github(facts: RunFacts) -> GithubRecord:
    """Never the run's failure: what GitHub does not take is written down and the result stays what it is."""
    from buildloop.github.publish import publish

    run = RunDir(facts.request.run_dir)
    try:
        record = publish(facts, run.path, _access(facts.request), os.environ)
    except Exception as error:  # whatever GitHub, git or the network do: the run has its result
        why = str(error) if isinstance(error, GithubError) else f"{type(error).__name__}: {error}"
        why = redactor(os.environ)(why)[:500]
        run.events.emit("loop.degraded", what="github", why=why)
        get_run_logger().warning(why)
        tell("tell github: not told", "github")
        record = load_record(run.path)
    else:
        _say(run, facts, record)
    write_page(run, replace(facts, degraded=degraded_in(run), pull_request=record.pull_url))
    return record


def _say(run: RunDir, facts: RunFacts, record: GithubRecord) -> None:
    if facts.request.dry_run:
        get_run_logger().info((run.path / DRY_RUN_FILE).read_text(encoding="utf-8"))
        tell("tell github: dry run", "github")
    elif record.pull is not None:
        run.events.emit("github.pull_request", number=record.pull, url=record.pull_url)
        tell(f"tell github: pull request #{record.pull}", "github")
    else:
        run.events.emit("github.commented", issue=facts.request.issue, url=record.comment_url)
        tell(f"tell github: comment on #{facts.request.issue}", "github")


def _access(request: BuildRequest) -> Access:
    from buildloop.github.publish import access_for

    access = access_for(Path(request.repo), request.github_repo, os.environ)
    if access.token or not access.repo.is_meant:
        return access  # the block's token is not for whatever host a remote names
    return replace(access, token=_block_token())


def _block_token() -> str:
    """Empty where there is no such block, or nobody to ask for it: then the lack of a token is what is said."""
    try:
        return str(Secret.load(SECRET_BLOCK).get())  # type: ignore[union-attr]
    except (ValueError, PrefectException, httpx.HTTPError):
        return ""
