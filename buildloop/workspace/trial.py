"""Trees that are tried but never committed: the workspace stands on one for a gate run, its branch untouched."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from buildloop.models import WorkspaceInfo
from buildloop.workspace.bytecode import drop_bytecode
from buildloop.workspace.git import run_git
from buildloop.workspace.link import reconnect
from buildloop.workspace.pipes import drop_pipes

GONE = f"0 {'0' * 40}"
SAYS_HOW_TO_BUILD = re.compile(
    r"(?:^|/)(?:GNUmakefile|[mM]akefile|CMakeLists\.txt|meson\.build)$|\.(?:mk|cmake|ninja|sh)$"
)


def as_entry(root: Path, text: str) -> str:
    """`MODE HASH` of a new plain file with this text."""
    return f"100644 {run_git(root, 'hash-object', '-w', '--stdin', stdin=text)}"


def tree_with(root: Path, commit: str, entries: Mapping[str, str]) -> str:
    """The tree of `commit` with other entries (`MODE HASH`, or GONE) at some paths."""
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        run_git(root, "read-tree", commit, env=index)
        # A file that takes a folder's place (or the other way round) needs the removals first.
        ordered = sorted(entries.items(), key=lambda item: item[1] != GONE)
        lines = "".join(f"{entry}\t{name}\0" for name, entry in ordered)
        run_git(root, "update-index", "-z", "--index-info", env=index, stdin=lines)
        return run_git(root, "write-tree", env=index)


@contextlib.contextmanager
def standing_on(workspace: WorkspaceInfo, tree: str, files: Sequence[str]) -> Iterator[None]:
    """The workspace with another tree. The same folder, so that installed packages, caches and
    paths are those of the gate and nothing but these files differs. Who comes next resets it to a commit, also after a
    crash in here."""
    root = Path(workspace.root)
    run_git(root, "read-tree", "--reset", "-u", tree)
    drop_bytecode(root, files)
    _have_built_anew(root, files)
    try:
        yield
    finally:
        reconnect(workspace)
        drop_pipes(root)
        run_git(root, "reset", "--quiet", "--hard")
        drop_bytecode(root, files)
        _have_built_anew(root, files)


def _have_built_anew(root: Path, files: Sequence[str]) -> None:
    """make builds what is older than its sources; that other instructions made it, it does not see."""
    if not any(map(SAYS_HOW_TO_BUILD.search, files)):
        return
    now = time.time_ns()  # one for all: a generated file that is kept with its source is not older than that
    for name in filter(None, run_git(root, "ls-files", "-z").split("\0")):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.utime(root / name, ns=(now, now), follow_symlinks=False)
