"""What an interrupted iteration has committed: it leaves the branch when the run stops, and a resume takes it up."""

from __future__ import annotations

from pathlib import Path

from buildloop.models import WorkspaceInfo
from buildloop.workspace.checkpoint import Step
from buildloop.workspace.git import git_or_none, run_git
from buildloop.workspace.link import reconnect
from buildloop.workspace.worktree import reopen


def unfinished_ref(run_id: str) -> str:
    return f"refs/buildloop/{run_id}/unfinished"


def keep_unfinished(workspace: WorkspaceInfo, run_id: str, head: str) -> None:
    """Put the branch back to `head`, the last finished iteration; git keeps what came after it under a ref."""
    root = Path(workspace.repo)
    tip = _commit_at(root, f"refs/heads/{workspace.branch}")
    if tip is not None and tip != head:
        run_git(root, "update-ref", unfinished_ref(run_id), tip)
        reopen(workspace, head)


def take_up_unfinished(workspace: WorkspaceInfo, step: Step, base: str) -> None:
    """Stand where the answer to this step was left: at its commit if it was made, else in the worktree as it is."""
    root = Path(workspace.repo)
    for ref in (f"refs/heads/{workspace.branch}", unfinished_ref(step.run_id)):
        commit = _commit_at(root, ref)
        if commit is not None and _belongs(root, commit, step, base):
            reopen(workspace, commit)
            return
    if not reconnect(workspace):
        reopen(workspace, base)


def _belongs(root: Path, commit: str, step: Step, base: str) -> bool:
    message = run_git(root, "log", "-1", "--format=%B", commit).strip()
    return message.endswith(f"\n{step.trailers}") and _commit_at(root, f"{commit}^") == base


def _commit_at(root: Path, name: str) -> str | None:
    return git_or_none(root, "rev-parse", "--verify", "--quiet", name)
