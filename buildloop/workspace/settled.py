"""Knows what a step left in the worktree, as long as no command was started since: the next step need not look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildloop.guarded import commands_begun
from buildloop.models import WorkspaceInfo
from buildloop.workspace.droppings import note_droppings
from buildloop.workspace.git import run_git, run_gits
from buildloop.workspace.link import reconnect
from buildloop.workspace.pipes import drop_pipes
from buildloop.workspace.standing import CHANGED, has_begun, head_of, on_branch
from buildloop.workspace.worktree import NOT_INSTALLED, begin_clean, reopen

UNTRACKED = ("ls-files", "-z", "--others")


@dataclass(frozen=True, slots=True)
class _Left:
    """`cleaned` waits until nothing lies around that the next step must not find."""

    commit: str
    commands: int
    cleaned: Callable[[], None]


_left: dict[str, _Left] = {}


def leave(workspace: WorkspaceInfo, commit: str, mark: str, *, clean: bool) -> None:
    """Every tracked file is as in `commit`. Commands of the run carry its `mark`. What lies around is taken away
    meanwhile."""
    cleaned = (lambda: None) if clean else begin_clean(workspace)
    _left[workspace.root] = _Left(commit, commands_begun(mark), cleaned)


def arrive(workspace: WorkspaceInfo, commit: str, mark: str) -> None:
    """The worktree is there, on its branch, and exactly at `commit`."""
    left = _left.pop(workspace.root, None)
    if left is not None:
        left.cleaned()
    known = left is not None and (left.commit, left.commands) == (commit, commands_begun(mark))
    if not known or not _still(workspace, commit):
        reopen(workspace, commit)


@dataclass(frozen=True, slots=True)
class AfterGate:
    """`clean`: it left nothing. `untracked` are all files that no commit has, ignored ones too."""

    clean: bool
    untracked: Sequence[str]


def settle_after_gate(workspace: WorkspaceInfo, exclude: Path) -> AfterGate:
    """Undo what a gate did to tracked files, and keep its droppings out of later commits."""
    root = Path(workspace.root)
    reconnect(workspace)
    drop_pipes(root)
    left = ("clean", "-nd", *NOT_INSTALLED)
    changed, lying_around, untracked = run_gits(root, CHANGED, left, UNTRACKED)
    if changed or has_begun(workspace):
        run_git(root, "reset", "--quiet", "--hard")
    if lying_around:
        note_droppings(root, exclude)
    return AfterGate(not lying_around, untracked.split("\0"))


def _still(workspace: WorkspaceInfo, commit: str) -> bool:
    return on_branch(workspace) and head_of(workspace) == commit and not has_begun(workspace)
