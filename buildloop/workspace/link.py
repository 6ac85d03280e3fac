"""Keeps the worktree tied to the repository, whatever an agent or a gate has done to it."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

from buildloop.files import write_atomic
from buildloop.models import WorkspaceInfo
from buildloop.workspace.git import run_git

COMMITTED_TO = ("objects", "refs", "logs", "worktrees", "reftable")


def reconnect(workspace: WorkspaceInfo) -> bool:
    """Mend the link to the repository; False when git knows no such worktree any more.

    Without its link git looks further up, and might find and change a checkout of the user's. A killed git also
    leaves its locks; nobody else may work here (the run is locked), so they are stale.
    """
    root = Path(workspace.root)
    own = _git_dir(Path(workspace.repo), root)
    if own is None:
        return False
    root.mkdir(parents=True, exist_ok=True)
    link, wanted = root / ".git", f"gitdir: {own}\n"
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link)
    if not link.is_file() or link.read_bytes() != wanted.encode():
        write_atomic(link, wanted, raw=True)
    branch = own.parent.parent / "refs" / "heads" / f"{workspace.branch}.lock"
    for stale in (own / "index.lock", own / "HEAD.lock", branch):
        stale.unlink(missing_ok=True)
    return True


def git_folder(workspace: WorkspaceInfo) -> Path:
    """Where commits, branches and the worktree's own index are written."""
    return _common_dir(Path(workspace.repo))


def commit_folders(workspace: WorkspaceInfo) -> tuple[Path, ...]:
    """What of the repository's own folder a commit in the worktree writes to: not its settings, not its hooks."""
    common = _common_dir(Path(workspace.repo))
    return tuple(common / name for name in COMMITTED_TO if (common / name).is_dir())


def worktree_git_folder(workspace: WorkspaceInfo) -> Path | None:
    """The part of it that belongs to this worktree alone: its HEAD and index."""
    return _git_dir(Path(workspace.repo), Path(workspace.root))


def _common_dir(repo: Path) -> Path:
    """Asked of git once a process: it is needed in every step, and moves only with the repository itself."""
    if not _asked_common_dir(repo).is_dir():
        _asked_common_dir.cache_clear()
    return _asked_common_dir(repo)


@cache
def _asked_common_dir(repo: Path) -> Path:
    return (repo / run_git(repo, "rev-parse", "--git-common-dir")).resolve()


def _git_dir(repo: Path, root: Path) -> Path | None:
    """Where the repository keeps this worktree's HEAD and index: under its own name, unless there was one already."""
    known, link = _common_dir(repo) / "worktrees", str(root / ".git")
    if _linked(known / root.name / "gitdir") == link:
        return known / root.name
    return next((entry.parent for entry in known.glob("*/gitdir") if _linked(entry) == link), None)


def _linked(entry: Path) -> str:
    try:
        return entry.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return ""
