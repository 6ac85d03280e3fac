"""The run's own worktree: made, found again after a crash, put back to a commit, given up at the end."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from git.exc import GitCommandError

from buildloop.errors import InputError
from buildloop.models import WorkspaceInfo
from buildloop.request import BuildRequest
from buildloop.workspace.bytecode import drop_bytecode
from buildloop.workspace.git import OUTSIDE_SUBMODULES, begin_git, git_or_none, run_git
from buildloop.workspace.link import reconnect
from buildloop.workspace.pipes import drop_pipes_once
from buildloop.workspace.repository import Repository, check_new_branch, open_repository, start_commit
from buildloop.workspace.standing import head_of, on_branch, stands_at

# Where installs put packages inside the workspace; a project that does not ignore them still needs them.
INSTALLED = ("node_modules", "vendor")
NOT_INSTALLED = tuple(word for name in INSTALLED for word in ("-e", name))
CLEAN = ("clean", "-fdq", *NOT_INSTALLED)


def prepare_worktree(request: BuildRequest) -> WorkspaceInfo:
    """The workspace of a new run. Made again for the same run id, it is the same workspace."""
    assert request.run_id is not None
    repository = open_repository(Path(request.repo))
    branch = request.branch or f"buildloop/{request.run_id}"
    root = Path(request.state_dir) / "worktrees" / request.run_id
    known = git_or_none(repository.root, "rev-parse", "--verify", f"refs/heads/{branch}")
    if known is not None and root.exists():
        return _info(request, repository, branch, known)
    start = start_commit(repository, request.dirty, request.run_id)
    root.parent.mkdir(parents=True, exist_ok=True)
    if known is not None and known == start and branch == f"buildloop/{request.run_id}":
        # Killed between making the branch and making the worktree: nobody else uses the run's own name.
        run_git(repository.root, "worktree", "prune")
        run_git(repository.root, "worktree", "add", "--quiet", "--force", str(root), branch)
        return _info(request, repository, branch, start)
    check_new_branch(repository.root, branch)
    run_git(repository.root, "worktree", "add", "--quiet", "-b", branch, str(root), start)
    return _info(request, repository, branch, start)


def reopen(workspace: WorkspaceInfo, commit: str) -> None:
    """Make sure the worktree is there, on its branch, and exactly at `commit`."""
    root = Path(workspace.root)
    wait_until_clean(workspace)
    if not on_branch(workspace):
        check_branch_free(workspace)
    if not reconnect(workspace):
        shutil.rmtree(root, ignore_errors=True)
        run_git(Path(workspace.repo), "worktree", "prune")
        run_git(Path(workspace.repo), "worktree", "add", "--quiet", "--force", "--detach", str(root), commit)
    put_back(workspace, commit)


def open_again(workspace: WorkspaceInfo) -> None:
    """Make the worktree anew where it is missing: on another machine, or when someone removed it."""
    if Path(workspace.root).exists() and reconnect(workspace):
        return
    tip = git_or_none(Path(workspace.repo), "rev-parse", "--verify", f"refs/heads/{workspace.branch}")
    reopen(workspace, tip or workspace.start_commit)


def stand_at(workspace: WorkspaceInfo, commit: str) -> None:
    """Be at `commit`, at little cost if that is so already."""
    wait_until_clean(workspace)
    if not Path(workspace.root).exists() or not reconnect(workspace) or head_of(workspace) != commit:
        reopen(workspace, commit)


def check_branch_free(workspace: WorkspaceInfo) -> None:
    """A stopped run's branch may be checked out by the user; it must not be moved under them."""
    listed = run_git(Path(workspace.repo), "worktree", "list", "--porcelain", "-z").split("\0")
    place = ""
    for line in listed:
        place = line.removeprefix("worktree ") if line.startswith("worktree ") else place
        if line == f"branch refs/heads/{workspace.branch}" and Path(place) != Path(workspace.root).resolve():
            raise InputError(
                f"branch {workspace.branch} is checked out in {place}; "
                "switch to another branch there, then resume the run"
            )


def check_branch_unmoved(workspace: WorkspaceInfo, expected: str) -> None:
    """Commits that a person added after the run stopped must not be dropped by going on from before them."""
    tip = git_or_none(Path(workspace.repo), "rev-parse", "--verify", f"refs/heads/{workspace.branch}")
    if tip is not None and expected and tip != expected:
        raise InputError(
            f"branch {workspace.branch} was moved to {tip[:10]} after the run stopped at {expected[:10]}; keep your "
            f"commits with 'git branch NAME {workspace.branch}', then 'git branch -f {workspace.branch} "
            f"{expected[:10]}' and resume"
        )


def put_back(workspace: WorkspaceInfo, commit: str) -> None:
    """Set the run's worktree and branch to `commit`; ignored files (installed packages) stay."""
    root = Path(workspace.root)
    wait_until_clean(workspace)
    reconnect(workspace)
    drop_pipes_once(root)
    if not stands_at(workspace, commit):
        options = ("--name-only", "-z", "--no-renames", OUTSIDE_SUBMODULES)
        changed = run_git(root, "diff", *options, commit).split("\0")
        run_git(root, "symbolic-ref", "HEAD", f"refs/heads/{workspace.branch}")
        run_git(root, "reset", "--quiet", "--hard", commit)
        drop_bytecode(root, filter(None, changed))
    begin_clean(workspace)
    wait_until_clean(workspace)


def begin_clean(workspace: WorkspaceInfo) -> None:
    """Take away what is neither tracked nor ignored. Whoever works in the worktree next waits for it."""
    wait_until_clean(workspace)
    _cleaning[workspace.root] = begin_git(None, Path(workspace.root), *CLEAN)


def wait_until_clean(workspace: WorkspaceInfo) -> None:
    """Two of them at once would fail at each other's files."""
    wait = _cleaning.pop(workspace.root, None)
    if wait is None:
        return
    try:
        wait()
    except GitCommandError:  # folders that were made read-only, as some package caches are
        if Path(workspace.root).exists():
            _open_folders(Path(workspace.root))
            run_git(Path(workspace.root), *CLEAN)


_cleaning: dict[str, Callable[[], None]] = {}


def _open_folders(root: Path) -> None:
    for folder, names, _ in os.walk(root):
        for path in (Path(folder, name) for name in names):
            if not path.is_symlink() and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
                path.chmod(path.stat().st_mode | stat.S_IRWXU)


def release(workspace: WorkspaceInfo, *, keep: bool) -> None:
    """Give the branch free, so that the user can check it out; a finished run's worktree goes."""
    root = Path(workspace.root)
    wait_until_clean(workspace)
    if keep:
        if root.exists() and reconnect(workspace):
            run_git(root, "checkout", "--quiet", "--detach")
        return
    try:
        run_git(Path(workspace.repo), "worktree", "remove", "--force", "--force", str(root))
    except GitCommandError:
        shutil.rmtree(root, ignore_errors=True)
        run_git(Path(workspace.repo), "worktree", "prune")


def _info(request: BuildRequest, repository: Repository, branch: str, start: str) -> WorkspaceInfo:
    root = Path(request.state_dir) / "worktrees" / str(request.run_id)
    return WorkspaceInfo(
        root=str(root),
        workdir=str(root / repository.inside),
        branch=branch,
        start_commit=start,
        start_tree=run_git(repository.root, "rev-parse", f"{start}^{{tree}}"),
        repo=str(repository.root),
        repo_id=repository.repo_id,
        remote_id=repository.remote_id,
    )
