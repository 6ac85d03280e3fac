"""`buildloop resume`: the same run, continued."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from buildloop.agents.registry import check_agents
from buildloop.cli.execute import execute
from buildloop.cli.output import console, print_json
from buildloop.cli.paths import state_folder
from buildloop.config import Setting, flag_of, make_request
from buildloop.result import StopReason
from buildloop.rundir import find_run
from buildloop.workspace.git import forget_calling_git
from buildloop.workspace.lock import run_lock
from buildloop.workspace.repository import open_repository
from buildloop.workspace.worktree import check_branch_free, check_branch_unmoved


def resume_run(
    run_id: str | None, limits: Mapping[str, Any], state_dir: Path | None, *, verbose: bool, as_json: bool
) -> int:
    forget_calling_git()
    run = find_run(state_folder(state_dir), run_id)
    screen = console(stderr=as_json)
    before = run.result()
    if before is not None and before.reason is StopReason.COMPLETE:
        if as_json:
            print_json(before.as_json())
        else:
            screen.print(f"run {run.run_id} is complete already; next: {before.next_step}", markup=False)
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
        run.events.emit("loop.resumed", iteration=max((one.number for one in run.iterations()), default=0))
    return execute(request, screen, verbose=verbose, as_json=as_json)
