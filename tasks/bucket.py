"""Runs kept in a bucket (`BUILDLOOP_STORAGE` is an fsspec URL): what another machine needs to go on with a run.

Results go there through a Prefect storage block; the run's files and its commits are copied after every step that
made some, and fetched before a run is worked on. Where the state directory is all there is, nothing happens here.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

from prefect.filesystems import RemoteFileSystem

from buildloop.models import WorkspaceInfo
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from buildloop.storage import bucket
from buildloop.workspace.git import git_or_none, run_git

BUNDLE = "branch.bundle"
# Of this machine only, or not worth the way.
LOCAL_ONLY = frozenset({"lock", "cancel"})

# What was sent from this process, by path: size and time of the file.
_sent: dict[Path, tuple[int, int]] = {}


def result_storage(state_dir: str, url: str | None) -> Path | RemoteFileSystem:
    """In the bucket at `url` if there is one, else in the state directory."""
    return _block(f"{url}/results") if url else Path(state_dir) / "results"


@cache
def _block(url: str) -> RemoteFileSystem:
    """Saved on the server, because Prefect refers to it by name in every result."""
    block = RemoteFileSystem(basepath=url)
    block.save(f"buildloop-{hashlib.sha256(url.encode()).hexdigest()[:12]}", overwrite=True)
    return block


def keep(request: BuildRequest, workspace: WorkspaceInfo | None) -> None:
    """Copy what is new. Commits first: a result must never name one that cannot be fetched."""
    url = bucket(os.environ)
    if url is None:
        return
    run = RunDir(request.run_dir)
    if workspace is not None:
        _bundle(run, workspace)
    files, place = _files(url), f"{url}/runs/{run.run_id}"
    for path in sorted(run.path.rglob("*"), key=lambda each: each.name != BUNDLE):
        if path.is_file() and path.name not in LOCAL_ONLY and not path.name.startswith("."):
            mark = (path.stat().st_size, path.stat().st_mtime_ns)
            if _sent.get(path) != mark:
                target = f"{place}/{path.relative_to(run.path).as_posix()}"
                files.makedirs(target.rpartition("/")[0], exist_ok=True)
                files.put_file(str(path), target)
                _sent[path] = mark


def fetch(request: BuildRequest) -> bool:
    """What another machine has left of this run, if any."""
    url = bucket(os.environ)
    if url is None:
        return False
    run = RunDir(request.run_dir)
    files, place = _files(url), f"{url}/runs/{run.run_id}"
    if not files.exists(place):
        return False
    root = files._strip_protocol(place)
    for name in files.find(place):
        target = run.path / str(name).removeprefix(str(root)).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        files.get_file(name, str(target))
    workspace = run.workspace()
    if workspace is not None and (run.path / BUNDLE).exists():
        _unbundle(run.path / BUNDLE, workspace)
    return True


def _files(url: str) -> Any:  # noqa: ANN401 (whichever file system fsspec has for it)
    return RemoteFileSystem(basepath=url).filesystem


def _bundle(run: RunDir, workspace: WorkspaceInfo) -> None:
    repo, branch = Path(workspace.repo), f"refs/heads/{workspace.branch}"
    if git_or_none(repo, "rev-parse", "--verify", "--quiet", branch) is None:
        return
    parent = git_or_none(repo, "rev-parse", "--verify", "--quiet", f"{workspace.start_commit}^")
    without = [f"^{parent}"] if parent else []
    draft = run.path / f".{BUNDLE}"
    run_git(repo, "bundle", "create", "--quiet", str(draft), branch, *without)
    draft.replace(run.path / BUNDLE)


def _unbundle(bundle: Path, workspace: WorkspaceInfo) -> None:
    """The branch as it was sent. A worktree of this machine that holds an older one is made again from it."""
    repo, branch = Path(workspace.repo), f"refs/heads/{workspace.branch}"
    run_git(repo, "worktree", "prune")
    commit = run_git(repo, "bundle", "unbundle", str(bundle), branch).split()[0]
    run_git(repo, "update-ref", branch, commit)
