"""Keeps the worktree tied to the repository, whatever an agent or a gate has done to it.

Git believes the files in the worktree's own part of the repository, which an agent must be able to write to:
`commondir` says whose settings, and with them which programs, it uses. So they are set right before our calls.
"""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from pathlib import Path

from buildloop.files import write_atomic
from buildloop.models import WorkspaceInfo
from buildloop.workspace.git import run_git

COMMITTED_TO = ("objects", "refs", "logs", "reftable")
COMMON = "../..\n"
HEAD = re.compile(r"ref: refs/[^\n]+\n|[0-9a-f]{40}(?:[0-9a-f]{24})?\n")
# What git copies from the user's checkout where each worktree has settings of its own, and that names no program.
HARMLESS = re.compile(
    r"\s*(?:\[(?:core|index|user)\]"
    r"|(?:sparseCheckout|sparseCheckoutCone|sparse) = (?:true|false)"
    r"|(?:name|email) = [^\\\"#;]*)\s*",
    re.I,
)
LARGEST = 10_000

# The entry of each worktree as this process found it first: what is in there now may be the agent's.
_entries: dict[Path, Path] = {}


def reconnect(workspace: WorkspaceInfo) -> bool:
    """Mend the link to the repository; False when git knows no such worktree any more and there is none.

    Without its link git looks further up, and might find and change a checkout of the user's. A killed git also
    leaves its locks; nobody else may work here (the run is locked), so they are stale.
    """
    root = Path(workspace.root)
    own = _git_dir(Path(workspace.repo), root) or _entered_again(workspace)
    if own is None:
        return False
    root.mkdir(parents=True, exist_ok=True)
    for folder in (root, own):
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            folder.chmod(0o755)
    _set(root / ".git", f"gitdir: {own}\n")
    _set(own / "commondir", COMMON)
    if not _names(own / "gitdir", root):
        _set(own / "gitdir", f"{root / '.git'}\n")
    if not HEAD.fullmatch(_text(own / "HEAD") or ""):
        _set(own / "HEAD", f"ref: refs/heads/{workspace.branch}\n")
    _disarm(own / "config.worktree")
    _drop_specials(own)
    branch = own.parent.parent / "refs" / "heads" / f"{workspace.branch}.lock"
    for stale in (own / "index.lock", own / "HEAD.lock", branch):
        stale.unlink(missing_ok=True)
    return True


def git_folder(workspace: WorkspaceInfo) -> Path:
    """Where commits, branches and the worktree's own index are written."""
    return _common_dir(Path(workspace.repo))


def commit_folders(workspace: WorkspaceInfo) -> tuple[Path, ...]:
    """What of the repository's own folder a commit in the worktree writes to: not its settings, not its hooks, not
    the user's other worktrees."""
    common, own = _common_dir(Path(workspace.repo)), worktree_git_folder(workspace)
    shared = tuple(common / name for name in COMMITTED_TO if (common / name).is_dir())
    return (*shared, own) if own else shared


def worktree_git_folder(workspace: WorkspaceInfo) -> Path | None:
    """The part of it that belongs to this worktree alone: its HEAD and index."""
    return _git_dir(Path(workspace.repo), Path(workspace.root))


def steering_files(workspace: WorkspaceInfo) -> tuple[Path, ...]:
    """What in there says which repository and which settings count; no commit writes to them."""
    own = worktree_git_folder(workspace)
    names = ("commondir", "gitdir", "config.worktree")
    return tuple(own / name for name in names if (own / name).is_file()) if own else ()


def _common_dir(repo: Path) -> Path:
    """Asked of git once a process: it is needed in every step, and moves only with the repository itself."""
    if not _asked_common_dir(repo).is_dir():
        _asked_common_dir.cache_clear()
    return _asked_common_dir(repo)


@cache
def _asked_common_dir(repo: Path) -> Path:
    return (repo / run_git(repo, "rev-parse", "--git-common-dir")).resolve()


def _git_dir(repo: Path, root: Path) -> Path | None:
    """Where the repository keeps this worktree's HEAD and index."""
    entries, known = _common_dir(repo) / "worktrees", _entries.get(root)
    if known is not None and known.parent == entries and known.is_dir():
        return known
    found = next((entry.parent for entry in sorted(entries.glob("*/gitdir")) if _names(entry, root)), None)
    if found is not None:
        _entries[root] = found
    return found


def _entered_again(workspace: WorkspaceInfo) -> Path | None:
    """An agent may have had its worktree forgotten (`git worktree prune`); what it left there is still wanted."""
    root = Path(workspace.root)
    own = _common_dir(Path(workspace.repo)) / "worktrees" / root.name
    if not root.is_dir() or own.exists():
        return None
    own.mkdir(parents=True)
    _entries[root] = own
    return own


def _names(gitdir: Path, root: Path) -> bool:
    """Newer versions of git may write it relative to the entry."""
    return os.path.normpath(gitdir.parent / (_text(gitdir) or "").strip()) == str(root / ".git")


def _disarm(settings: Path) -> None:
    """Settings of this worktree alone; git reads them where the user's repository has that switched on."""
    if settings.exists() or settings.is_symlink():
        lines = (_text(settings) or "").splitlines(keepends=True)
        _set(settings, "".join(line for line in lines if HARMLESS.fullmatch(line)))


def _drop_specials(own: Path) -> None:
    """Git itself makes plain files only; at a pipe in the place of its index or log it would wait for ever."""
    for path in (*own.iterdir(), *(own / "logs").glob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            path.unlink()


def _set(path: Path, wanted: str) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    if _text(path) != wanted:
        write_atomic(path, wanted, raw=True)


def _text(path: Path) -> str | None:
    """Of a plain file of reasonable size; anything else an agent may have put there (a pipe, a link) is to go."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
        return None
    return path.read_text(encoding="utf-8", errors="surrogateescape")
