"""What gates and tools leave behind, kept out of every commit.

Two kinds: caches and reports of known tools, which never belong into a commit; and files a gate wrote, as long as
they are as the gate left them. Once somebody changes such a file it is work, and it counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from buildloop.files import write_atomic, write_json
from buildloop.workspace.git import git_or_none, run_git

CACHES = (
    "__pycache__/",
    "*.py[cod]",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".coverage",
    ".coverage.*",
    "coverage.xml",
    "lcov.info",
    "htmlcov/",
    "junit.xml",
    ".tox/",
    ".nox/",
    ".venv/",
    "node_modules/",
    ".nyc_output/",
    ".gradle/",
    ".aider*",
)
MOST_REMEMBERED = 5000


def note_droppings(root: Path, exclude: Path) -> None:
    """Remember what lies around untracked right after a gate."""
    listed = run_git(root, *excluding(root, exclude), "ls-files", "-z", "--others", "--exclude-standard")
    names = [name for name in listed.split("\0") if name][:MOST_REMEMBERED]
    if names:
        write_json(
            _memory(exclude), {**_remembered(exclude), **{name: _digest(root / name) for name in names}}
        )


def excluding(root: Path, exclude: Path) -> tuple[str, ...]:
    """Options that make git pass over droppings. It reads one file of personal excludes: ours carries the user's."""
    unchanged = (name for name, digest in _remembered(exclude).items() if _digest(root / name) == digest)
    patterns = [*_users_own(root), *CACHES, *map(_as_pattern, unchanged)]
    text = "\n".join(patterns) + "\n"
    if not exclude.exists() or exclude.read_text(encoding="utf-8", errors="surrogateescape") != text:
        write_atomic(exclude, text, raw=True, view=True)
    return ("-c", f"core.excludesFile={exclude}")


def _users_own(root: Path) -> Iterable[str]:
    users = _users_file(root)
    if users is None or not users.is_file():
        return ()
    return users.read_text(encoding="utf-8", errors="surrogateescape").splitlines()


@cache
def _users_file(root: Path) -> Path | None:
    """As configured when first asked: an agent that sets another one hides nothing by it."""
    users = git_or_none(root, "config", "--type=path", "core.excludesFile")
    return Path(users) if users else None


def _memory(exclude: Path) -> Path:
    return exclude.with_name("droppings.json")


def _remembered(exclude: Path) -> dict[str, str]:
    path = _memory(exclude)
    return json.loads(path.read_text(encoding="utf-8", errors="surrogateescape")) if path.exists() else {}


def _digest(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return ""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except PermissionError:
        return ""


def _as_pattern(name: str) -> str:
    escaped = "".join(f"\\{char}" if char in "\\*?[!# " else char for char in name)
    return f"/{escaped}"
