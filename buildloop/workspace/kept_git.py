"""Git processes that a run keeps: to write commits, move refs, read objects. Starting git takes longer than any of it.

It is git that writes, so whatever the repository uses (other hashes, other ways to store refs, reflogs) is kept to.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import git
from git.exc import GitCommandError

from buildloop.workspace.git import OPTIONS, QUIET, identity, run_git

WRITE_COMMITS = ("hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths")
# A byte that was no UTF-8. Git takes it for Latin-1.
UNDECODED = re.compile("[\udc80-\udcff]")
MOVE_REFS = ("update-ref", "--no-deref", "--stdin")
# Whoever sets these wants them in every commit; git itself knows their many spellings.
DATES = ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")


@dataclass
class _Helper:
    """One git process that reads lines and answers each question with as many as it is known to."""

    repo: Path
    arguments: tuple[str, ...]
    lock: threading.Lock = field(default_factory=threading.Lock)
    process: subprocess.Popen[bytes] | None = None

    def ask(self, lines: bytes, answers: int) -> list[str]:
        """Every question may be asked twice: one whose git was killed is asked again."""
        with self.lock:
            said = self._answers(lines, answers) or self._answers(lines, answers)
            if not said:
                raise GitCommandError(list(self.arguments), self._ended())
            return said

    def _answers(self, lines: bytes, answers: int) -> list[str]:
        """Nothing when git is gone."""
        process = self.process = self.process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(lines)
            process.stdin.flush()
            said = [process.stdout.readline().decode() for _ in range(answers)]
        except OSError:
            said = [""]
        if not all(said):
            self._ended()
            return []
        return [line.rstrip("\n") for line in said]

    def end(self) -> None:
        with self.lock:
            self._ended()

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["git", *OPTIONS, *self.arguments],
            cwd=self.repo,
            env={**os.environ, **QUIET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _ended(self) -> int:
        process, self.process = self.process, None
        if process is None:
            return 0
        with contextlib.suppress(OSError):
            process.communicate()
        return process.returncode


_kept: dict[Path, tuple[_Helper, _Helper]] = {}
_open: dict[Path, git.Repo] = {}


@contextlib.contextmanager
def git_kept(root: Path, repo: Path) -> Iterator[None]:
    """Within, commits and refs of the worktree at `root` are written by processes that stay."""
    commits, refs = _kept[root] = _Helper(repo, WRITE_COMMITS), _Helper(repo, MOVE_REFS)
    try:
        yield
    finally:
        del _kept[root]
        commits.end()
        refs.end()
        if reader := _open.pop(root, None):
            reader.close()


@contextlib.contextmanager
def repository(root: Path) -> Iterator[git.Repo]:
    """For reading objects: the process that GitPython asks stays as long as the others."""
    if root not in _kept:
        with git.Repo(root) as once:
            yield once
        return
    reading = getattr(_open[root].git, "cat_file_all", None) if root in _open else None
    if (
        reading is not None and reading.proc.poll() is not None
    ):  # killed: every object would seem to be missing
        _open.pop(root).close()
    if root not in _open:
        _open[root] = git.Repo(root)
    yield _open[root]


def commit_tree(
    root: Path, tree: str, parent: str, message: str, dates: Mapping[str, str] | None = None
) -> str:
    """A new commit that no ref names yet."""
    if root not in _kept or dates or any(name in os.environ for name in DATES):
        who = {**identity(root), **(dates or {})}
        return run_git(root, "commit-tree", tree, "-p", parent, "-F", "-", env=who, stdin=message)
    moment = time.strftime(f"{int(time.time())} %z")
    author, committer = _names(root)
    head = f"tree {tree}\nparent {parent}\nauthor {author} {moment}\ncommitter {committer} {moment}\n"
    text = UNDECODED.sub(lambda byte: chr(ord(byte[0]) - 0xDC00), f"{head}\n{message}\n").encode()
    with tempfile.NamedTemporaryFile(prefix="buildloop-commit-") as written:
        written.write(text)
        written.flush()
        return _kept[root][0].ask(os.fsencode(written.name) + b"\n", 1)[0]


def move_ref(root: Path, ref: str, commit: str) -> None:
    if root not in _kept:
        run_git(root, "update-ref", "--no-deref", ref, commit)
        return
    _kept[root][1].ask(f"start\nupdate {ref} {commit}\ncommit\n".encode(), 2)


@cache
def _names(root: Path) -> tuple[str, str]:
    """Author and committer as git writes them."""
    idents = (
        run_git(root, "var", name, env=identity(root)) for name in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT")
    )
    author, committer = (ident.rsplit(" ", 2)[0] for ident in idents)
    return author, committer
