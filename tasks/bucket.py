"""Runs kept in a bucket (`BUILDLOOP_STORAGE` is an fsspec URL): what another machine needs to go on with a run.

Results go there through a Prefect storage block; the run's files and its commits are copied after every step that
made some, and fetched before a run is worked on. Where the state directory is all there is, nothing happens here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from functools import cache
from pathlib import Path
from secrets import token_hex

from prefect.filesystems import RemoteFileSystem

from buildloop.files import write_atomic
from buildloop.models import WorkspaceInfo
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from buildloop.storage import bucket
from buildloop.storage_index import Index, check_names, place_for, portable_files
from buildloop.workspace.git import git_or_none, run_git
from tasks.bucket_store import Store, digest_of
from tasks.lease import check_lease

BUNDLE = "branch.bundle"
# The state of the bucket that this machine has seen last. Not copied: it is about this machine.
SEEN = ".storage"
DRAFT = ".in-transit"

# What was sent from this process, by path: size and time of the file, and its digest.
_sent: dict[Path, tuple[tuple[int, int], str]] = {}


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
    """Copy what is new, the index last: until then another machine sees the state that was kept before, whole."""
    url = bucket(os.environ)
    if url is None:
        return
    check_lease(request.run_dir)
    run = RunDir(request.run_dir)
    if workspace is not None:
        _bundle(run, workspace)
    store = Store.of(url, run.run_id)
    before = store.index()
    stored = set(before.files.values()) if before else set()
    files = {}
    for name, path in portable_files(run.path):
        digest = _put(store, path, run.path / DRAFT, stored)
        if digest is not None:
            files[name] = digest
    check_lease(request.run_dir)
    index = Index(id=token_hex(8), files=files)
    store.write_index(index)
    write_atomic(run.path / SEEN, index.id)
    store.remove(stored - set(files.values()))


def _put(store: Store, path: Path, draft: Path, stored: set[str]) -> str | None:
    """The digest under which it is stored. Copied first: a file that grows meanwhile is sent as it was. None if it is
    gone by now."""
    try:
        found = path.stat()
        mark = (found.st_size, found.st_mtime_ns)
        known = _sent.get(path)
        if known is not None and known[0] == mark and known[1] in stored:
            return known[1]
        shutil.copyfile(path, draft)
    except FileNotFoundError:
        return None
    digest = digest_of(draft)
    if digest not in stored:
        store.put(draft, digest)
    draft.unlink()
    _sent[path] = (mark, digest)
    return digest


def fetch(request: BuildRequest) -> bool:
    """What another machine has left of this run, if any has worked on it since this one did. Then what is here but not
    there is of a past that did not happen."""
    index, run = fetch_files(request), RunDir(request.run_dir)
    if index is None:
        return False
    workspace = run.workspace()
    if workspace is not None and (run.path / BUNDLE).exists():
        _unbundle(run, workspace)
    write_atomic(run.path / SEEN, index.id)
    return True


def fetch_files(request: BuildRequest) -> Index | None:
    """The files alone, for whoever wants to know how the run ended and has not its repository. None: there is nothing
    newer than what is here."""
    url = bucket(os.environ)
    if url is None:
        return None
    run = RunDir(request.run_dir)
    store = Store.of(url, run.run_id)
    index = store.index()
    if index is None or index.id == _seen(run.path):
        return None
    check_names(index, run.run_id)
    run.path.mkdir(parents=True, exist_ok=True)
    for name, path in list(portable_files(run.path)):
        if name not in index.files:
            path.unlink()
    for name, digest in index.files.items():
        target, draft = place_for(run.path, name), run.path / DRAFT
        store.get(digest, draft)
        draft.replace(target)
    return index


def _seen(run_dir: Path) -> str | None:
    try:
        return (run_dir / SEEN).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None


def _bundle(run: RunDir, workspace: WorkspaceInfo) -> None:
    """The run's branch, and what else it has marked: its best state, an answer that is not an iteration yet."""
    repo, branch = Path(workspace.repo), f"refs/heads/{workspace.branch}"
    if git_or_none(repo, "rev-parse", "--verify", "--quiet", branch) is None:
        return
    marks = run_git(repo, "for-each-ref", "--format=%(refname)", f"refs/buildloop/{run.run_id}/").split()
    parent = git_or_none(repo, "rev-parse", "--verify", "--quiet", f"{workspace.start_commit}^")
    without = [f"^{parent}"] if parent else []
    draft = run.path / f".{BUNDLE}"
    run_git(repo, "bundle", "create", "--quiet", str(draft), branch, *marks, *without)
    draft.replace(run.path / BUNDLE)


def _unbundle(run: RunDir, workspace: WorkspaceInfo) -> None:
    """The refs as they were sent. A worktree of this machine that holds an older branch is made again from it."""
    repo, branch = Path(workspace.repo), f"refs/heads/{workspace.branch}"
    run_git(repo, "worktree", "prune")
    for line in run_git(repo, "bundle", "unbundle", str(run.path / BUNDLE)).splitlines():
        commit, _, ref = line.partition(" ")
        if ref == branch or ref.startswith(f"refs/buildloop/{run.run_id}/"):
            run_git(repo, "update-ref", ref, commit)
