"""Makes the real git repository of a scenario, and puts back its protected files for the judge."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
import zipfile
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from benchmarks.gauntlet_parts.scenario import Archive, Scenario

IDENTITY = ("-c", "user.name=gauntlet", "-c", "user.email=gauntlet@localhost")


def make_repository(scenario: Scenario, place: Path) -> Path:
    place.mkdir(parents=True)
    if scenario.folder:
        shutil.copytree(scenario.folder, place, dirs_exist_ok=True)
    for name, text in scenario.files.items():
        _write(place / name, text)
    for archive in scenario.archive:
        _pack(archive, place / archive.path)
    git(place, "init", "-q", "-b", "main")
    commit_all(place, "start")
    return place


def commit_all(repo: Path, message: str) -> bool:
    """Whether there was anything to commit."""
    git(repo, "add", "-A")
    if not git(repo, "status", "--porcelain"):
        return False
    git(repo, *IDENTITY, "commit", "-q", "-m", message)
    return True


def check_out(repo: Path, commit: str, place: Path) -> Path:
    git(repo, "worktree", "add", "-q", "--detach", str(place), commit)
    return place


def git(repo: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def restore_protected(scenario: Scenario, tree: Path) -> None:
    """The scenario's own tests, whatever the agent made of them."""
    for name, text in scenario.files.items():
        parts = PurePosixPath(name).parts
        if any(fnmatch(part, pattern) for part in parts for pattern in scenario.protected):
            _write(tree / name, text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _pack(archive: Archive, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".whl":
        with zipfile.ZipFile(path, "w") as wheel:
            for name, text in archive.files.items():
                wheel.writestr(name, text)
        return
    with tarfile.open(path, "w:gz") as tarball:
        for name, text in archive.files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tarball.addfile(member, io.BytesIO(text.encode()))
