"""The folder an agent CLI takes for its own state, apart from the user's: settings, sessions, a borrowed log-in."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from buildloop.agents.contract import AgentCall

HOMES = "agents"
# What log-in files are called. One that is left in a home was renewed by a call that was killed: it is the user's.
LOG_INS = frozenset({".credentials.json", "auth.json", "oauth_creds.json", "google_accounts.json"})


def agent_home(call: AgentCall, name: str) -> Path:
    """Inside the run's directory: sessions survive a crash there, and nothing of the user's is touched.

    For the user's eyes only: what a CLI writes down about a session is not masked.
    """
    homes = call.run_dir / HOMES
    homes.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = homes / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def forget_homes(run_dir: Path) -> None:
    """Of a run that is complete: no session goes on, and what they wrote down is not masked."""
    for home in (run_dir / HOMES).glob("*"):
        left = (path for path in home.rglob("*") if path.name in LOG_INS)
        if not any(path.is_file() and not path.is_symlink() for path in left):
            shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def scratch_folder(mark: str) -> Iterator[Path]:
    """A folder for temporary files that is gone afterwards. Its path is short: sockets are made in such folders.

    What a killed call of the same run left is removed by the next one.
    """
    name = hashlib.sha256(mark.encode()).hexdigest()[:12]  # a mark may be a path
    place, prefix = Path(tempfile.gettempdir()), f"buildloop-{name}-"
    for stale in place.glob(f"{prefix}*"):
        shutil.rmtree(stale, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def borrowed(files: Mapping[Path, Path]) -> Iterator[None]:
    """Lend the user's log-in files (values) to the agent's folder (keys), and give them back if it renewed them.

    A log-in may be renewed at any time and the old one is worth nothing then; so a file the CLI has put in the
    place of the link is the user's new one.
    """
    _give_back(files)
    for own, users in files.items():
        if users.is_file():
            own.parent.mkdir(parents=True, exist_ok=True)
            own.unlink(missing_ok=True)
            own.symlink_to(users)
    try:
        yield
    finally:
        _give_back(files)


def _give_back(files: Mapping[Path, Path]) -> None:
    for own, users in files.items():
        if own.is_symlink():
            own.unlink()
        elif own.is_file() and users.is_file():
            renewed = users.with_name(f".{users.name}.buildloop")
            shutil.copy2(own, renewed)
            renewed.chmod(users.stat().st_mode & 0o7777)
            renewed.replace(users)
            own.unlink()
