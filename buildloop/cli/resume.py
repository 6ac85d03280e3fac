"""`buildloop resume`: the same run, continued."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from buildloop.agents.registry import check_agents
from buildloop.cli.execute import execute
from buildloop.cli.output import console, print_json
from buildloop.cli.own_packages import prefer_own_packages
from buildloop.cli.paths import state_folder
from buildloop.cli.prefect_api import start_prefect
from buildloop.config import Setting, flag_of, make_request
from buildloop.people.answer import forget_stops
from buildloop.report.facts import facts_of
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir, find_run
from buildloop.workspace.git import forget_calling_git
from buildloop.workspace.lock import run_lock
from buildloop.workspace.repository import open_repository
from buildloop.workspace.worktree import check_branch_free, check_branch_unmoved

if TYPE_CHECKING:
    from buildloop.github.publish import Access


def resume_run(
    run_id: str | None, limits: Mapping[str, Any], state_dir: Path | None, *, verbose: bool, as_json: bool
) -> int:
    forget_calling_git()
    run = find_run(state_folder(state_dir), run_id)
    screen = console(stderr=as_json)
    before = run.result()
    if before is not None and before.reason.is_success:
        _publish_if_untold(run, screen, verbose=verbose)
        if as_json:
            print_json(before.as_json())
        else:
            said = f"run {run.run_id} is {before.reason} already; next: {before.next_step}"
            screen.print(said, markup=False)
        return 0
    changed = {name: Setting(value, flag_of(name)) for name, value in limits.items() if value is not None}
    stored = {name: Setting(value, name) for name, value in run.request().model_dump().items()}
    request = make_request({**stored, **changed})
    open_repository(Path(request.repo))
    check_agents(request)
    if (workspace := run.workspace()) is not None:
        check_branch_free(workspace)
        if before is not None:
            check_branch_unmoved(workspace, before.commit)
    with run_lock(run.path):  # whoever works on it now must not find its request changed
        if changed:
            run.save("request.json", request)
        forget_stops(run.path)
        run.events.emit("loop.resumed", iteration=max((one.number for one in run.iterations()), default=0))
    return execute(request, screen, verbose=verbose, as_json=as_json)


def _publish_if_untold(run: RunDir, screen: Console, *, verbose: bool) -> None:
    """The work is done, but its pull request may have been lost: the process was killed, or GitHub was away."""
    from buildloop.github.ended import is_untold, tell_ended

    if not is_untold(run):
        return
    with run_lock(run.path):
        if not is_untold(run):
            return  # whoever held the lock until now has told it
        facts = replace(
            facts_of(run), result=run.result(), running=False
        )  # the lock is ours, nobody works on it
        record, why = tell_ended(run, facts, lambda: _access(run.request(), verbose=verbose), os.environ)
    again = f"try again with 'buildloop resume {run.run_id}'"
    screen.print(
        f"no pull request: {why}; {again}" if why else f"pull request: {record.pull_url}", markup=False
    )


def _access(request: BuildRequest, *, verbose: bool) -> Access:
    """Prefect is started only where the token can be nowhere but in its secret block."""
    from buildloop.github.publish import access_for, require_token

    access = access_for(Path(request.repo), request.github_repo, os.environ)
    if not access.token and access.repo.is_meant:
        starting = start_prefect(Path(request.state_dir), verbose=verbose)
        prefer_own_packages()
        from tasks.github import block_token

        starting.wait()
        access = replace(access, token=block_token())
    require_token(access)
    return access
