"""Git processes that a run keeps: to write commits, move refs, read objects. Starting git takes longer than any of it.

It is git that writes, so whatever the repository uses (other hashes, other ways to store refs, reflogs) is kept to.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import git

from buildloop.workspace.git import OPTIONS, QUIET, asked_in, identity, run_git

WRITE_COMMITS = ("hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths")
# A byte that was no UTF-8. Git takes it for Latin-1.
UNDECODED = re.compile("[\udc80-\udcff]")
MOVE_REFS = ("update-ref", "--no-deref", "--stdin")
# Whoever sets these wants them in every commit; git itself knows their many spellings.
DATES = ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")
# Who says nothing for so many seconds was stopped.
LONGEST_ANSWER = 30.0


@dataclass
class _Helper:
    """One git process that reads lines and answers each question with as many as it is known to."""

    repo: Path
    arguments: tuple[str, ...]
    lock: threading.Lock = field(default_factory=threading.Lock)
    process: subprocess.Popen[bytes] | None = None

    def ask(self, lines: bytes, answers: int) -> list[str]:
        """Every question may be asked twice: one whose git was killed or stopped is asked again. Nothing when that
        does not help either."""
        with self.lock:
            return self._answers(lines, answers) or self._answers(lines, answers)

    def end(self) -> None:
        with self.lock:
            self._end()

    def _answers(self, lines: bytes, answers: int) -> list[str]:
        try:
            process = self.process = self.process or self._started()
            assert process.stdin is not None
            process.stdin.write(lines)
            said = [_line(process) for _ in range(answers)]
        except OSError:
            said = [""]
        except BaseException:
            self._end()  # an answer that nobody has read would be taken for that to the next question
            raise
        if not all(said):
            self._end()
            return []
        return said

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["git", *OPTIONS, *self.arguments],
            cwd=self.repo,
            env={**os.environ, **QUIET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )

    def _end(self) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _line(process: subprocess.Popen[bytes]) -> str:
    """Empty when git is gone, or does not answer."""
    assert process.stdout is not None
    ready = select.poll()
    ready.register(process.stdout, select.POLLIN)
    return process.stdout.readline().decode().rstrip("\n") if ready.poll(LONGEST_ANSWER * 1000) else ""


_kept: dict[Path, tuple[_Helper, _Helper]] = {}
_open: dict[Path, git.Repo] = {}


@contextlib.contextmanager
def git_kept(root: Path, repo: Path) -> Iterator[None]:
    """Within, commits and refs of the worktree at `root` are written by processes that stay."""
    commits, refs = _kept[root] = _Helper(repo, WRITE_COMMITS), _Helper(repo, MOVE_REFS)
    folder = (repo / run_git(repo, "rev-parse", "--git-common-dir")).resolve()
    try:
        with asked_in(folder, root):
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
    if reading is not None and reading.proc.poll() is not None:
        _open.pop(root).close()  # killed: every object would seem to be missing
    if root not in _open:
        _open[root] = git.Repo(root)
    yield _open[root]


def commit_tree(
    root: Path, tree: str, parent: str, message: str, dates: Mapping[str, str] | None = None
) -> str:
    """A new commit that no ref names yet."""
    if root in _kept and not dates and not any(name in os.environ for name in DATES):
        written = _written_commit(root, tree, parent, message)
        if written:
            return written
    who = {**identity(root), **(dates or {})}
    return run_git(root, "commit-tree", tree, "-p", parent, "-F", "-", env=who, stdin=message)


def _written_commit(root: Path, tree: str, parent: str, message: str) -> str:
    moment = time.strftime(f"{int(time.time())} %z")
    author, committer = _names(root)
    head = f"tree {tree}\nparent {parent}\nauthor {author} {moment}\ncommitter {committer} {moment}\n"
    text = UNDECODED.sub(lambda byte: chr(ord(byte[0]) - 0xDC00), f"{head}\n{message}\n").encode()
    with tempfile.NamedTemporaryFile(prefix="buildloop-commit-") as written:
        written.write(text)
        written.flush()
        return "".join(_kept[root][0].ask(os.fsencode(written.name) + b"\n", 1))


def move_ref(root: Path, ref: str, commit: str) -> None:
    question = f"start\nupdate {ref} {commit}\ncommit\n".encode()
    if root in _kept and _answers_at_once() and _kept[root][1].ask(question, 2):
        return
    run_git(root, "update-ref", "--no-deref", ref, commit)


@cache
def _answers_at_once() -> bool:
    """Before this version `update-ref` kept its answers to itself until it had many."""
    return git.Git().version_info >= (2, 33, 1)


@cache
def _names(root: Path) -> tuple[str, str]:
    """Author and committer as git writes them."""
    idents = (
        run_git(root, "var", name, env=identity(root)) for name in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT")
    )
    author, committer = (ident.rsplit(" ", 2)[0] for ident in idents)
    return author, committer
