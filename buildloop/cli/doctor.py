"""`buildloop doctor`: is this machine ready, and if not, what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.markup import escape

from buildloop.agents.catalogue import CATALOGUE
from buildloop.agents.confine import can_confine
from buildloop.choices import SandboxKind
from buildloop.cli.agents import look_for, version_of
from buildloop.cli.output import console, print_json
from buildloop.cli.paths import state_folder
from buildloop.cli.prefect_api import answers, configured_url
from buildloop.cli.run import check_writable
from buildloop.errors import BuildloopError, InputError
from buildloop.goal import MINIMUM_FREE_BYTES
from buildloop.memory.location import VARIABLE as MEMORY_VARIABLE
from buildloop.memory.location import Kind, memory_location
from buildloop.memory.store import LOOKUP_SECONDS, open_store
from buildloop.sandbox import Sandbox, check_sandbox
from buildloop.workspace.repository import open_repository, uncommitted

OLDEST_GIT = (2, 30)


@dataclass(frozen=True, slots=True)
class Check:
    """`state` is ok, warn or bad; `advice` says what to do about the last two."""

    name: str
    state: str
    found: str
    advice: str = ""


def examine(repo: Path, state_dir: Path | None, *, as_json: bool) -> int:
    """Exit code 1 when something is missing that every run needs."""
    checks = list(_checks(repo, state_folder(state_dir)))
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        screen = console()
        colours = {"ok": "green", "warn": "yellow", "bad": "red"}
        for check in checks:
            colour = colours[check.state]
            screen.print(f"[{colour}]{check.state:>4}[/{colour}]  {check.name:<14} {escape(check.found)}")
            if check.advice:
                screen.print(f"                      → {escape(check.advice)}")
    return 1 if any(check.state == "bad" for check in checks) else 0


def _checks(repo: Path, folder: Path) -> Iterator[Check]:
    yield _git()
    yield _shell()
    yield _repository(repo)
    yield from _agents()
    yield _boundary()
    yield _sandbox()
    yield _prefect()
    yield from _state(folder)
    yield _memory()


def _git() -> Check:
    found = version_of("git")
    if found is None:
        return Check("git", "bad", "not found", "install git 2.30 or newer")
    numbers = tuple(int(part) for part in found.split()[-1].split(".")[:2] if part.isdigit())
    if numbers < OLDEST_GIT:
        return Check("git", "bad", found, "install git 2.30 or newer")
    return Check("git", "ok", found)


def _shell() -> Check:
    if Path("/bin/sh").exists():
        return Check("shell", "ok", "/bin/sh")
    return Check("shell", "bad", "/bin/sh not found", "gates run in /bin/sh; install one")


def _repository(repo: Path) -> Check:
    try:
        repository = open_repository(repo)
    except InputError as error:
        return Check(
            "repository", "warn", str(error), "give --repo the path of the repository you want to work on"
        )
    changes = len(uncommitted(repository.root))
    if changes:
        advice = "commit them, or start runs with --include-dirty or --from-head"
        return Check("repository", "warn", f"{repository.root}, {changes} uncommitted changes", advice)
    return Check("repository", "ok", str(repository.root))


def _agents() -> Iterator[Check]:
    found = [one for cli in CATALOGUE.values() if (one := look_for(cli)).path]
    for one in found:
        name = f"agent {one.name}"
        if one.version is None:
            advice = f"try '{one.name} --version', or install it again: {one.install}"
            yield Check(name, "warn", "installed, but --version does not answer", advice)
        elif one.is_tested:
            yield Check(name, "ok", one.version)
        else:
            advice = (
                f"tested with {one.tested}; 'buildloop agents test {one.name}' shows whether this one works"
            )
            yield Check(name, "ok", one.version, advice)
    if not found:
        names = ", ".join(CATALOGUE)
        advice = "'buildloop agents' says how to install them; or use --agent-command with any program"
        yield Check("agents", "warn", f"none of {names}", advice)


def _sandbox() -> Check:
    try:
        check_sandbox(Sandbox(SandboxKind.BWRAP))
    except InputError as error:
        advice = "install bubblewrap, if you want to confine agent and gate with --sandbox bwrap"
        return Check("sandbox", "warn", str(error).partition(";")[0], advice)
    return Check("sandbox", "ok", "bubblewrap works: --sandbox bwrap can be used")


def _boundary() -> Check:
    if can_confine():
        return Check("boundary", "ok", "the kernel keeps agents from writing outside of their workspace")
    advice = "Linux 5.13 or newer has Landlock; without it use --sandbox for agents you do not trust"
    return Check("boundary", "warn", "nothing keeps agents from writing outside of their workspace", advice)


def _prefect() -> Check:
    url = configured_url(os.environ)
    if url is None:
        return Check("prefect", "ok", "embedded server (PREFECT_API_URL is not set)")
    if answers(url):
        return Check("prefect", "ok", f"server at {url}")
    return Check(
        "prefect",
        "bad",
        f"{url} does not answer",
        "start it with 'prefect server start' or unset PREFECT_API_URL",
    )


def _memory() -> Check:
    advice = f"runs go on without it; correct {MEMORY_VARIABLE}, or set it to off"
    try:
        place = memory_location(os.environ)
        if place.kind is Kind.OFF:
            return Check("memory", "ok", f"switched off by {MEMORY_VARIABLE}")
        if place.kind is Kind.SQLITE and not Path(place.target).exists():
            return Check("memory", "ok", f"sqlite at {place.target}, empty: the first run makes it")
        with closing(open_store(place, LOOKUP_SECONDS)) as store, store.within(LOOKUP_SECONDS):
            failures, size = int(store.rows("SELECT count(*) FROM failures")[0][0]), store.size()
    except BuildloopError as error:
        return Check("memory", "warn", str(error), advice)
    return Check("memory", "ok", f"{place.kind} at {place.shown}, {failures} failures, {size / 2**20:.1f} MB")


def _state(folder: Path) -> Iterator[Check]:
    try:
        check_writable(folder)
    except InputError as error:
        yield Check(
            "state", "bad", str(error), "choose another folder with --state-dir or BUILDLOOP_STATE_DIR"
        )
        return
    yield Check("state", "ok", str(folder))
    free = shutil.disk_usage(folder).free
    state = "ok" if free >= 10 * MINIMUM_FREE_BYTES else "warn" if free >= MINIMUM_FREE_BYTES else "bad"
    advice = "" if state == "ok" else "free some disk space; runs stop below 100 MB"
    yield Check("disk", state, f"{free // 2**20} MB free", advice)
    yield _database(folder)


def _database(folder: Path) -> Check:
    path = folder / f".probe-{os.getpid()}.db"
    try:
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("CREATE TABLE probe (id INTEGER)")
    except sqlite3.Error as error:
        return Check(
            "database", "bad", f"SQLite cannot write in {folder}: {error}", "use a local disk for --state-dir"
        )
    finally:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    return Check("database", "ok", f"SQLite {sqlite3.sqlite_version}")
