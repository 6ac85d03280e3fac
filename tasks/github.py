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

from buildloop.github.record import DRY_RUN_FILE, GithubRecord
from buildloop.github.repository import SECRET_BLOCK
from buildloop.models import Frozen
from buildloop.redact import mask_own
from buildloop.report.facts import RunFacts
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from tasks.masked_errors import masked_errors
from tasks.options import DURABLE, tell

if TYPE_CHECKING:
    from buildloop.github.publish import Access


class Read(Frozen):
    """Goal and context as they were when the run began: they do not change under it."""

    goal: str
    context: str


@task(name="read_issue", task_run_name="read issue", **DURABLE)
@masked_errors
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
@masked_errors
def tell_github(facts: RunFacts) -> GithubRecord:
    """Never the run's failure: what GitHub does not take is written down and the result stays what it is."""
    from buildloop.github.ended import tell_ended

    run = RunDir(facts.request.run_dir)
    record, why = tell_ended(run, facts, lambda: _access(facts.request), os.environ)
    if why:
        get_run_logger().warning(why)
        tell("tell github: not told", "github")
    elif facts.request.dry_run:
        get_run_logger().info((run.path / DRY_RUN_FILE).read_text(encoding="utf-8"))
        tell("tell github: dry run", "github")
    elif record.pull is not None:
        tell(f"tell github: pull request #{record.pull}", "github")
    else:
        tell(f"tell github: comment on #{facts.request.issue}", "github")
    return record


def _access(request: BuildRequest) -> Access:
    from buildloop.github.publish import access_for

    access = access_for(Path(request.repo), request.github_repo, os.environ)
    if access.token or not access.repo.is_meant:
        return access  # the block's token is not for whatever host a remote names
    return replace(access, token=block_token())


def block_token() -> str:
    """Empty where there is no such block, or nobody to ask for it: then the lack of a token is what is said."""
    try:
        return str(Secret.load(SECRET_BLOCK).get())  # type: ignore[union-attr]
    except (ValueError, PrefectException, httpx.HTTPError):
        return ""
