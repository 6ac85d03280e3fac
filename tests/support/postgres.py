"""A real PostgreSQL on loopback that can hold a Prefect server's database: it needs the extension pg_trgm."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def free_port() -> int:
    """Below those that the system gives to connections: one of them could get it before the server is up."""
    while True:
        port = 15_000 + secrets.randbelow(15_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def postgres_programs() -> Path | None:
    """The folder with `initdb` and `postgres` of an installation that has pg_trgm, the newest first."""
    candidates = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    if found := shutil.which("postgres"):
        candidates.insert(0, Path(found).resolve().parent)
    return next((folder for folder in candidates if _has_trigrams(folder)), None)


@contextmanager
def postgres(programs: Path, folder: Path) -> Iterator[str]:
    """The URL of a fresh server; it is gone afterwards, with everything in it. Only its log is in `folder`: every start
    of pytest closes all of pytest's folders to everybody else, and PostgreSQL does not work for root."""
    port, owner = free_port(), _unprivileged_owner()
    data = Path(tempfile.mkdtemp(prefix="buildloop-postgres-"))
    if owner is not None:
        os.chown(data, owner, -1)
    subprocess.run(
        [
            programs / "initdb",
            "-D",
            data,
            "-A",
            "trust",
            "-U",
            "postgres",
            "--no-sync",
            "--locale=C",
            "-E",
            "UTF8",
        ],
        check=True,
        capture_output=True,
        user=owner,
        cwd="/",
    )
    quick = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=127.0.0.1")
    options = [word for setting in quick for word in ("-c", setting)]
    with (folder / "postgres.log").open("wb") as log:
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-p", str(port), "-k", data, *options],
            stdout=log,
            stderr=log,
            user=owner,
            cwd="/",
        )
    try:
        yield f"postgresql+asyncpg://postgres@127.0.0.1:{port}/postgres"
    finally:
        server.send_signal(3)  # SIGQUIT: at once, nobody needs the data
        server.wait(60)
        shutil.rmtree(data)


def _has_trigrams(programs: Path) -> bool:
    config = programs / "pg_config"
    if not (programs / "initdb").exists() or not config.exists():
        return False
    asked = subprocess.run([config, "--sharedir"], capture_output=True, text=True, check=False)
    return (Path(asked.stdout.strip()) / "extension" / "pg_trgm.control").exists()


def _unprivileged_owner() -> int | None:
    """PostgreSQL refuses to work for root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name: entry.pw_uid for entry in pwd.getpwall()}
    return names.get("postgres") or names.get("nobody")
