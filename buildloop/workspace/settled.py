"""Knows what a step left in the worktree, as long as no command was started since: the next step need not look."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from buildloop.guarded import commands_begun
from buildloop.models import WorkspaceInfo
from buildloop.workspace.droppings import note_droppings
from buildloop.workspace.git import run_git, run_gits
from buildloop.workspace.integrity.hidden import clear_index_bits, passed_over
from buildloop.workspace.link import reconnect
from buildloop.workspace.pipes import drop_pipes
from buildloop.workspace.standing import CHANGED, has_begun, head_of, on_branch
from buildloop.workspace.worktree import begin_clean, reopen, wait_until_clean

UNTRACKED = ("ls-files", "-z", "--others")
LYING_AROUND = ("clean", "-nd")
# With the bits by which git can be told not to look at a file.
INDEX = ("ls-files", "-v", "-z")


# One step follows the other at once. Whoever waited in between (for a person, for an agent's limit) looks again.
BELIEVED_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Left:
    commit: str
    commands: int
    at: float


_left: dict[str, _Left] = {}


def leave(workspace: WorkspaceInfo, commit: str, mark: str, *, clean: bool) -> None:
    """Every tracked file is as in `commit`. Commands of the run carry its `mark`. What lies around is taken away
    meanwhile."""
    if not clean:
        begin_clean(workspace)
    _left[workspace.root] = _Left(commit, commands_begun(mark), time.monotonic())


def arrive(workspace: WorkspaceInfo, commit: str, mark: str) -> None:
    """The worktree is there, on its branch, and exactly at `commit`."""
    left = _left.pop(workspace.root, None)
    if left is None or not _believed(left, workspace, commit, mark):
        reopen(workspace, commit)
    wait_until_clean(workspace)


def _believed(left: _Left, workspace: WorkspaceInfo, commit: str, mark: str) -> bool:
    return (
        (left.commit, left.commands) == (commit, commands_begun(mark))
        and time.monotonic() - left.at < BELIEVED_SECONDS
        and (Path(workspace.root) / ".git").is_file()
        and on_branch(workspace)
        and head_of(workspace) == commit
        and not has_begun(workspace)
    )


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
    changed, lying_around, untracked, index = run_gits(root, CHANGED, LYING_AROUND, UNTRACKED, INDEX)
    hidden = any(map(passed_over, index.split("\0")))
    if hidden:
        clear_index_bits(root)
    if changed or hidden or has_begun(workspace):
        run_git(root, "reset", "--quiet", "--hard")
    if lying_around:
        note_droppings(root, exclude)
    return AfterGate(not lying_around, untracked.split("\0"))
