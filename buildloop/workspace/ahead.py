"""Asks git while a command runs what will be asked once it has ended."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from git.exc import GitCommandError, GitCommandNotFound

from buildloop.workspace.git import known_git

LONGEST_WAIT = 60.0


@contextlib.contextmanager
def asked_meanwhile(root: Path, *questions: Sequence[str]) -> Iterator[None]:
    thread = threading.Thread(target=_ask, args=(root, questions), daemon=True)
    thread.start()
    yield
    thread.join(LONGEST_WAIT)  # whoever wants an answer that is not there asks again


def _ask(root: Path, questions: Sequence[Sequence[str]]) -> None:
    """What goes wrong here goes wrong again for whoever wants the answer, and is told there."""
    for question in questions:
        with contextlib.suppress(GitCommandError, GitCommandNotFound):
            known_git(root, *question)
