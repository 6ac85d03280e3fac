"""The best tree so far: kept under a ref while the run works, handed back on the branch when it stops."""

from __future__ import annotations

from pathlib import Path

from buildloop.models import WorkspaceInfo
from buildloop.workspace.checkpoint import Step, go_back
from buildloop.workspace.git import run_git
from buildloop.workspace.kept_git import move_ref
from buildloop.workspace.standing import commit_at
from buildloop.workspace.unfinished import unfinished_ref
from buildloop.workspace.worktree import reopen


def best_ref(run_id: str) -> str:
    return f"refs/buildloop/{run_id}/best"


def mark_best(workspace: WorkspaceInfo, run_id: str, commit: str) -> None:
    """Git keeps what a ref names, whatever happens to the branch."""
    if commit_at(workspace, best_ref(run_id)) != commit:
        move_ref(Path(workspace.root), best_ref(run_id), commit)


def forget_best(workspace: WorkspaceInfo, run_id: str) -> None:
    for ref in (best_ref(run_id), unfinished_ref(run_id)):
        run_git(Path(workspace.repo), "update-ref", "-d", ref)


def hand_back(workspace: WorkspaceInfo, step: Step, head: str, best: str) -> str:
    """Leave the branch at the best tree: a commit on top of what was tried, so that nothing of it is lost."""
    reopen(workspace, head)
    commit = go_back(workspace, step, head, best)
    if commit != head:
        reopen(workspace, commit)
    return commit
