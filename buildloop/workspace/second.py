"""A second, throw-away worktree for an agent whose work is looked at but not kept."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from git.exc import GitCommandError

from buildloop.models import WorkspaceInfo
from buildloop.workspace.git import run_git
from buildloop.workspace.link import reconnect
from buildloop.workspace.staging import stage_all

# What was installed for the run is lent to it: a test that cannot be run cannot be tried either.
LENT = ("node_modules", ".venv", "venv", "vendor")
LARGEST = 200_000


@contextlib.contextmanager
def second_worktree(workspace: WorkspaceInfo, commit: str) -> Iterator[WorkspaceInfo]:
    """Beside the run's own worktree, at `commit`, on no branch; one that a crash left behind goes first."""
    first = Path(workspace.root)
    root = first.with_name(f"{first.name}.second")
    inside = Path(workspace.workdir).relative_to(first)
    _remove(Path(workspace.repo), root)
    run_git(Path(workspace.repo), "worktree", "add", "--quiet", "--force", "--detach", str(root), commit)
    try:
        for name in LENT:
            lent, place = first / inside / name, root / inside / name
            if lent.is_dir() and not place.exists():
                place.symlink_to(lent)
        yield workspace.model_copy(update={"root": str(root), "workdir": str(root / inside)})
    finally:
        _remove(Path(workspace.repo), root)


def added_files(workspace: WorkspaceInfo, commit: str, exclude: Path) -> dict[str, str]:
    """The new text files in it, by name."""
    root = Path(workspace.root)
    reconnect(workspace)
    stage_all(root, exclude)
    listed = run_git(root, "diff", "--cached", "--no-renames", "--diff-filter=A", "--name-only", "-z", commit)
    found = {}
    for name in filter(None, listed.split("\0")):
        path = root / name
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST:
            with contextlib.suppress(UnicodeDecodeError):
                found[name] = path.read_bytes().decode()
    return found


def _remove(repo: Path, root: Path) -> None:
    if not root.exists():
        return
    try:
        run_git(repo, "worktree", "remove", "--force", "--force", str(root))
    except GitCommandError:
        shutil.rmtree(root, ignore_errors=True)
        run_git(repo, "worktree", "prune")
