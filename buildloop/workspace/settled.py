"""Knows what a step left in the worktree, as long as no command was started since: the next step need not look."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from buildloop.guarded import commands_begun
from buildloop.models import WorkspaceInfo
from buildloop.workspace.droppings import note_droppings
from buildloop.workspace.git import run_git, run_gits
from buildloop.workspace.link import reconnect
from buildloop.workspace.pipes import drop_pipes
from buildloop.workspace.standing import CHANGED, has_begun, head_of, on_branch
from buildloop.workspace.worktree import NOT_INSTALLED, clean, reopen


@dataclass(frozen=True, slots=True)
class _Left:
    """`clean`: also nothing lies around that the next step must not find."""

    commit: str
    commands: int
    clean: bool


_left: dict[str, _Left] = {}


def leave(workspace: WorkspaceInfo, commit: str, mark: str, *, clean: bool) -> None:
    """Every tracked file is as in `commit`. Commands of the run carry its `mark`."""
    _left[workspace.root] = _Left(commit, commands_begun(mark), clean)


def arrive(workspace: WorkspaceInfo, commit: str, mark: str) -> None:
    """The worktree is there, on its branch, and exactly at `commit`."""
    left = _left.pop(workspace.root, None)
    known = left is not None and (left.commit, left.commands) == (commit, commands_begun(mark))
    if left is None or not known or not _still(workspace, commit):
        reopen(workspace, commit)
    elif not left.clean:
        clean(workspace)


def settle_after_gate(workspace: WorkspaceInfo, exclude: Path) -> bool:
    """Undo what a gate did to tracked files, and keep its droppings out of later commits. Whether it left none."""
    root = Path(workspace.root)
    reconnect(workspace)
    drop_pipes(root)
    changed, lying_around = run_gits(root, CHANGED, ("clean", "-nd", *NOT_INSTALLED))
    if changed or has_begun(workspace):
        run_git(root, "reset", "--quiet", "--hard")
    if lying_around:
        note_droppings(root, exclude)
    return not lying_around


def _still(workspace: WorkspaceInfo, commit: str) -> bool:
    return on_branch(workspace) and head_of(workspace) == commit and not has_begun(workspace)
