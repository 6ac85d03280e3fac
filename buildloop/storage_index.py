"""What of a run another machine needs, and the list of it that is kept in a bucket."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from buildloop.agents.home import HOMES
from buildloop.errors import InputError
from buildloop.models import Frozen

# Of this machine only.
LOCAL_FILES = frozenset({"lock", "begun", "cancel"})
# Can be made again from the project and may be large, or holds what CLIs wrote down unmasked, log-ins among it.
LOCAL_FOLDERS = frozenset({"packages", "aside", HOMES})


class Index(Frozen):
    """A whole state of a run: its files by the digest of their content. `id` differs for every state that was kept."""

    id: str
    files: dict[str, str]


def portable_files(run_dir: Path) -> Iterator[tuple[str, Path]]:
    """Regular files by their name within the run; links, sockets and pipes mean nothing elsewhere."""
    for path in sorted(run_dir.rglob("*")):
        name = path.relative_to(run_dir).as_posix()
        try:
            regular = stat.S_ISREG(path.lstat().st_mode)
        except FileNotFoundError:
            continue
        if regular and is_portable(name):
            yield name, path


def is_portable(name: str) -> bool:
    parts = PurePosixPath(name).parts
    if not parts or parts[0] in LOCAL_FOLDERS or name in LOCAL_FILES:
        return False
    return not parts[-1].startswith(".")


def check_names(index: Index, run_id: str) -> None:
    """Before a single file is written: a bucket is written by others."""
    for name in index.files:
        parts = PurePosixPath(name).parts
        plain = str(PurePosixPath(name)) == name and not {"/", "..", "."} & {*parts} and "\0" not in name
        if not plain or not is_portable(name):
            raise InputError(
                f"the stored run {run_id} names {name!r}, which is no file of a run; nothing was taken from it"
            )


def place_for(run_dir: Path, name: str) -> Path:
    """Where a file goes; its folders are made, and a link that stands in the way is replaced, never followed."""
    folder = run_dir
    for part in PurePosixPath(name).parts[:-1]:
        folder = folder / part
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            folder.unlink()
        folder.mkdir(parents=True, exist_ok=True)
    return folder / PurePosixPath(name).name
