"""The user's repository: looked at, never changed (but for the run's own branch and worktree entry)."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from git.exc import GitCommandError

from buildloop.config import CONFIG_FILE
from buildloop.errors import InputError
from buildloop.request import BuildRequest, DirtyPolicy
from buildloop.workspace.git import git_or_none, identity, require_git, run_git
from buildloop.workspace.remote import remote_identity

SHOWN_CHANGES = 5


@dataclass(frozen=True, slots=True)
class Repository:
    """`root` is the checkout's top; `inside` is where in it the user pointed ("." for the top). `repo_id` says which
    project it is; `remote_id` is what a shallow clone of it goes by, "" where there is no remote."""

    root: Path
    inside: str
    head: str
    repo_id: str
    remote_id: str = ""


def open_repository(path: Path) -> Repository:
    require_git()
    if not path.is_dir():
        raise InputError(f"{path} is not a directory; give --repo the path of a git repository")
    try:
        if run_git(path, "rev-parse", "--is-bare-repository") == "true":
            raise InputError(f"{path} is a bare repository; clone it and give --repo the clone")
        root = Path(run_git(path, "rev-parse", "--show-toplevel"))
    except GitCommandError as error:
        if "dubious ownership" in str(error.stderr):
            raise InputError(
                f"git refuses {path} because another user owns it; "
                f"run: git config --global --add safe.directory {path}"
            ) from None
        raise InputError(
            f"{path} is not a git repository; run 'git init' there and commit your files"
        ) from None
    try:
        head = run_git(root, "rev-parse", "--verify", "HEAD^{commit}")
    except GitCommandError:
        raise InputError(
            f"{root} has no commits yet; commit your files first, the run starts from there"
        ) from None
    remote = remote_identity(root)
    return Repository(root, _inside(root, path), head, _identity_of(root, remote), remote)


def start_commit(repository: Repository, dirty: DirtyPolicy, run_id: str) -> str:
    """The commit a run starts from: HEAD, or a snapshot of the checkout as it is."""
    if dirty is DirtyPolicy.IGNORE:
        return repository.head
    changes = uncommitted(repository.root)
    if changes and dirty is DirtyPolicy.INCLUDE:
        return _snapshot(repository, run_id)
    _refuse(repository, changes)
    return repository.head


def check_start(repository: Repository, request: BuildRequest) -> None:
    """Say now what `start_commit` would refuse later. Nothing is made."""
    if request.dirty is DirtyPolicy.REFUSE:
        _refuse(repository, uncommitted(repository.root))
    if request.branch is not None:
        check_new_branch(repository.root, request.branch)


def check_new_branch(root: Path, branch: str) -> None:
    if branch.startswith("-") or git_or_none(root, "check-ref-format", "--branch", branch) is None:
        raise InputError(f"{branch!r} is not a valid branch name; choose another with --branch")
    if git_or_none(root, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}") is not None:
        raise InputError(f"branch {branch} exists already; choose another with --branch, or delete it")


def _refuse(repository: Repository, uncommitted_files: list[str]) -> None:
    """Settings do not count: they are read from the checkout, so that `init` and then `run` just works."""
    changes = [name for name in uncommitted_files if Path(name).name != CONFIG_FILE]
    if not changes:
        return
    shown = ", ".join(changes[:SHOWN_CHANGES]) + (", …" if len(changes) > SHOWN_CHANGES else "")
    raise InputError(
        f"{repository.root} has uncommitted changes ({shown}); choose --include-dirty to start from a snapshot "
        "of them, or --from-head to start without them (either way they stay as they are)"
    )


def uncommitted(root: Path) -> list[str]:
    listed = run_git(root, "status", "--porcelain=v1", "-z", "--no-renames")
    return [entry[3:] for entry in listed.split("\0") if entry]


def _snapshot(repository: Repository, run_id: str) -> str:
    """A commit of the work tree made with an index of its own, so that the user's stays as it is."""
    with tempfile.TemporaryDirectory(prefix="buildloop-") as folder:
        index = Path(folder) / "index"
        users_index = Path(run_git(repository.root, "rev-parse", "--absolute-git-dir")) / "index"
        if users_index.exists():
            shutil.copyfile(users_index, index)
        own = {"GIT_INDEX_FILE": str(index)}
        run_git(repository.root, "add", "-A", env=own)
        tree = run_git(repository.root, "write-tree", env=own)
    message = f"buildloop: uncommitted changes at the start of run {run_id}"
    who = identity(repository.root)
    return run_git(repository.root, "commit-tree", tree, "-p", repository.head, "-m", message, env=who)


def _inside(root: Path, path: Path) -> str:
    return path.resolve().relative_to(root.resolve()).as_posix()


def _identity_of(root: Path, remote: str) -> str:
    """The root commit: the same for every clone and checkout, different for unrelated projects. Where histories were
    joined it is that of the main line. A shallow clone does not have it: it goes by its remote."""
    if remote and run_git(root, "rev-parse", "--is-shallow-repository") == "true":
        return remote
    return run_git(root, "rev-list", "--max-parents=0", "--first-parent", "HEAD")
