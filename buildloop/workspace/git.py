"""Calls git so that it asks nothing, runs no hooks and takes no locks in the user's checkout."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, cast

import git
from git.exc import GitCommandError

from buildloop.errors import InputError

QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_EDITOR": "true"}
IDENTITY = ("buildloop", "buildloop@localhost")

# For every call, also in what the agent made of the workspace: nothing runs that a file of the workspace could name, no
# other repository below it is entered. Filters (git-lfs) go on working: only the user's settings define them.
SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "submodule.recurse=false",
    "log.showSignature=false",
)
OPTIONS = tuple(word for setting in SETTINGS for word in ("-c", setting))
# Of a submodule only its commit counts. As an option, because `.gitmodules` outranks the setting of the same name:
# git would start a `git status` inside, by the settings of that repository, which the agent may have written.
OUTSIDE_SUBMODULES = "--ignore-submodules=dirty"

# Answers that are kept because they will be asked for again.
MOST_KEPT, LONGEST_KEPT = 8, 2**20

# Set while git runs a hook; inherited, they would point every call at the hook's repository.
CALLER_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")


def run_git(
    where: Path, *arguments: str, env: Mapping[str, str] | None = None, stdin: str | None = None
) -> str:
    """Standard output of `git ARGUMENTS` in `where`, without its last newline."""
    return _execute(where, arguments, env, stdin)


def write_git(
    output: IO[bytes],
    where: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
) -> None:
    """The same for output of any size and kind: it goes into the file `output`, which is then at its beginning."""
    _execute(where, arguments, env, stdin, output)
    output.seek(0)


def begin_git(
    output: IO[bytes] | None, where: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> Callable[[], None]:
    """The same, begun: it runs until it is waited for by calling the answer."""
    process = _start(where, arguments, env, subprocess.DEVNULL, output)

    def wait() -> None:
        _finish(process, b"")
        if output is not None:
            output.seek(0)

    return wait


def run_gits(where: Path, *calls: Sequence[str]) -> list[str]:
    """The same for several calls that run side by side; none of them may depend on another."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for arguments in calls:
            started.append(_start(where, arguments, None, subprocess.DEVNULL, None))
        return [_finish(process, b"") for process in started]
    finally:
        for process in started:
            if process.poll() is None:
                process.communicate()


def _execute(
    where: Path,
    arguments: Sequence[str],
    env: Mapping[str, str] | None,
    stdin: str | None,
    output: IO[bytes] | None = None,
) -> str:
    given = (stdin or "").encode("utf-8", "surrogateescape")
    process = _start(where, arguments, env, subprocess.PIPE if given else subprocess.DEVNULL, output)
    return _finish(process, given)


def _start(
    where: Path,
    arguments: Sequence[str],
    env: Mapping[str, str] | None,
    stdin: int,
    output: IO[bytes] | None,
) -> subprocess.Popen[bytes]:
    command = ["git", *OPTIONS, *arguments]
    try:
        return subprocess.Popen(
            command,
            cwd=where,
            env={**os.environ, **QUIET, **(env or {})},
            stdin=stdin,
            stdout=output or subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        if not where.is_dir():
            raise GitCommandError(command, error) from error
        raise git.GitCommandNotFound(command, error) from error


def _finish(process: subprocess.Popen[bytes], given: bytes) -> str:
    try:
        out, err = process.communicate(given or None)
    except BaseException:
        process.kill()
        process.wait()
        raise
    said = (out or b"").decode("utf-8", "surrogateescape").removesuffix("\n")
    if process.returncode:
        raise GitCommandError(cast("list[str]", process.args), process.returncode, err, said)
    return said


def known_git(root: Path, *arguments: str) -> str:
    """The same for questions about commits that are named by their hashes: asked again, the answer is known. Within
    `asked_in` nothing in the worktree can have a say, so that a command may run there meanwhile."""
    question = (str(root), *arguments)
    if (known := _known.pop(question, None)) is not None:
        _known[question] = known  # the last one asked for is the last one to go
        return known
    answer = run_git(_asked_in.get(root, root), *arguments)
    if len(answer) <= LONGEST_KEPT:
        _known[question] = answer
        for oldest in list(_known)[:-MOST_KEPT]:
            _known.pop(oldest, None)
    return answer


_known: dict[tuple[str, ...], str] = {}
_asked_in: dict[Path, Path] = {}


@contextlib.contextmanager
def asked_in(folder: Path, root: Path) -> Iterator[None]:
    """Within, what is asked about commits of the worktree at `root` is asked in git's own folder."""
    _asked_in[root] = folder
    try:
        yield
    finally:
        del _asked_in[root]


def git_or_none(where: Path, *arguments: str) -> str | None:
    try:
        return run_git(where, *arguments)
    except GitCommandError:
        return None


@cache
def identity(where: Path) -> Mapping[str, str]:
    """Who commits: the user as configured when first asked, or buildloop where nobody is."""
    name = git_or_none(where, "config", "user.name") or IDENTITY[0]
    mail = git_or_none(where, "config", "user.email") or IDENTITY[1]
    return {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": mail,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": mail,
    }


def forget_calling_git() -> None:
    for variable in CALLER_VARIABLES:
        os.environ.pop(variable, None)


def require_git() -> None:
    try:
        git.Git().version()
    except git.GitCommandNotFound:
        raise InputError("git was not found; install git 2.30 or newer and try again") from None
