"""Where the worktree stands, read from git's own files: a git process less wherever nothing has moved."""

from __future__ import annotations

import re
from pathlib import Path

from buildloop.models import WorkspaceInfo
from buildloop.workspace.git import OUTSIDE_SUBMODULES, git_or_none, run_git
from buildloop.workspace.link import git_folder, worktree_git_folder

COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\n")
# Tells which tracked files are not as in HEAD.
CHANGED = ("status", "--porcelain", "-z", "--untracked-files=no", OUTSIDE_SUBMODULES)
# A merge or the like that was begun in the worktree and not ended; `git reset` ends it.
BEGUN = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG", "AUTO_MERGE")


def on_branch(workspace: WorkspaceInfo) -> bool:
    """Whether HEAD is the run's branch. Git lets no other worktree have it as long as that is so."""
    own = worktree_git_folder(workspace)
    return own is not None and _text(own / "HEAD") == f"ref: refs/heads/{workspace.branch}\n"


def head_of(workspace: WorkspaceInfo) -> str | None:
    """The commit the worktree stands at."""
    if on_branch(workspace):
        return commit_at(workspace, f"refs/heads/{workspace.branch}")
    return git_or_none(Path(workspace.root), "rev-parse", "HEAD")


def commit_at(workspace: WorkspaceInfo, ref: str) -> str | None:
    """What a ref names; git is asked only where it is not in a file of its own."""
    found = _text(git_folder(workspace) / ref)
    if COMMIT.fullmatch(found):
        return found.strip()
    return git_or_none(Path(workspace.repo), "rev-parse", "--verify", "--quiet", ref)


def stands_at(workspace: WorkspaceInfo, commit: str) -> bool:
    """On its branch, at `commit`, no merge half way, and every tracked file as it is there."""
    if not on_branch(workspace) or head_of(workspace) != commit or has_begun(workspace):
        return False
    return not run_git(Path(workspace.root), *CHANGED)


def has_begun(workspace: WorkspaceInfo) -> bool:
    own = worktree_git_folder(workspace)
    return own is not None and any((own / name).exists() for name in BEGUN)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
