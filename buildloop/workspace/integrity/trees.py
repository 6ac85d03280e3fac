"""Two commits as a list of changed files with their texts."""

from __future__ import annotations

from pathlib import Path

import git
from git.exc import GitCommandError

from buildloop.workspace.git import run_git
from buildloop.workspace.integrity.model import Change

# Larger files hold no tests that a person wrote; their change is seen, their text is not compared.
LARGEST = 2 * 2**20


def changes_between(root: Path, start: str, commit: str) -> list[Change]:
    """Every changed file; a moved one counts as one change with two names."""
    parts = run_git(root, "diff", "--raw", "-z", "-M", "--no-abbrev", start, commit).split("\0")
    repository = git.Repo(root)
    found: list[Change] = []
    while len(parts) > 1:
        head = parts.pop(0).lstrip(":").split(" ")
        status = head[4][:1]
        old_name = name = parts.pop(0)
        if status in "RC":
            name = parts.pop(0)
        before = _text(repository, head[0], head[2])
        after = _text(repository, head[1], head[3])
        if status == "C":
            status, before = "A", None
        found.append(Change(status, name, old_name, before, after, head[1]))
    return found


def _text(repository: git.Repo, mode: str, blob: str) -> str | None:
    if mode == "000000" or not mode.startswith("1"):
        return None
    try:
        size = int(repository.git.cat_file("-s", blob))
        if size > LARGEST:
            return ""
        stored = repository.odb.stream(bytes.fromhex(blob)).read()
    except (GitCommandError, ValueError):
        return None
    return str(stored.decode("utf-8", "replace"))
