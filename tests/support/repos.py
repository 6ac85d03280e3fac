"""Small real git repositories."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path

GREEN = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "test_calc.py": (
        "import unittest\n\nfrom calc import add\n\n\n"
        "class Calc(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"
    ),
}


def make_repo(path: Path, files: Mapping[str, str]) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    write_files(path, files)
    commit_all(path, "start")
    return path


def write_files(path: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def commit_all(path: Path, message: str) -> str:
    git(path, "add", "-A")
    git(path, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", message)
    return git(path, "rev-parse", "HEAD")


def git(path: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=path, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def checkout_state(repo: Path) -> dict[str, str]:
    """Every file of the checkout and git's index, HEAD, stash and hooks, byte for byte."""
    files = [path for path in sorted(repo.rglob("*")) if path.is_file() and ".git" not in path.parts]
    inside = [repo / ".git" / name for name in ("index", "HEAD", "refs/stash", "config", "refs/heads/main")]
    return {
        str(path.relative_to(repo)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in [*files, *inside]
        if path.exists()
    }


def every_file(folder: Path) -> dict[str, str]:
    """Every file and folder below `folder`, git's own included, byte for byte."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }
