"""The Prefect API a command works with: the user's server, or an embedded one that goes when we go."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from buildloop.cli.prefect_schema import prepare_database
from buildloop.environment import EMBEDDED_FLAG
from buildloop.errors import InputError
from buildloop.text import one_line

START_SECONDS = 180.0
POLL_SECONDS = 0.05

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_SERVER_LEVEL": "WARNING",
    "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
}

# A database that is slow to answer on a busy machine is waited for: Prefect's 5 and 10 seconds end as "500", which its
# client does not ask again, and the run has crashed.
PATIENT = {
    "PREFECT_SERVER_DATABASE_CONNECTION_TIMEOUT": "60",
    "PREFECT_SERVER_DATABASE_TIMEOUT": "60",
}


@dataclass(frozen=True, slots=True)
class PrefectApi:
    """Where the API is. `embedded` ones are ours."""

    url: str
    embedded: bool

    @property
    def ui(self) -> str:
        return self.url.removesuffix("/").removesuffix("/api")


def configured_url(environment: Mapping[str, str]) -> str | None:
    """The API the user has set: in the environment, or in the active Prefect profile."""
    if url := environment.get("PREFECT_API_URL"):
        return url
    home = Path(environment.get("PREFECT_HOME") or Path.home() / ".prefect")
    try:
        profiles = tomllib.loads((home / "profiles.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError):
        return None
    active = environment.get("PREFECT_PROFILE") or profiles.get("active")
    url = profiles.get("profiles", {}).get(active, {}).get("PREFECT_API_URL")
    return url if isinstance(url, str) else None


def start_prefect(state_dir: Path, *, verbose: bool = False, port: int = 0) -> Starting:
    """Prepare this process for Prefect. Import Prefect only afterwards: it reads its settings at import, and
    the address of an embedded server is made known to it by `Starting.wait`.

    An embedded server stays until this process ends: Prefect delivers its last logs and events at exit.
    """
    os.environ.update({name: os.environ.get(name, value) for name, value in {**QUIET, **PATIENT}.items()})
    if not verbose:
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    if url := configured_url(os.environ):
        _require_answer(url)
        os.environ["PREFECT_API_URL"] = url
        return Starting(PrefectApi(url, embedded=False))
    folder = state_dir / "prefect"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.update({"PREFECT_HOME": str(folder), EMBEDDED_FLAG: "1"})
    _hold_client_lock(folder)
    return Starting(None, folder, port)


class Starting:
    """An API that may still be coming up; do other work, such as importing Prefect, before you wait for it."""

    def __init__(self, api: PrefectApi | None, folder: Path | None = None, port: int = 0) -> None:
        self._api, self._folder = api, folder
        self._process = _start_unless_running(folder, port) if folder else None

    def wait(self) -> PrefectApi:
        if self._api is None:
            assert self._folder is not None
            self._api = _wait_until_up(self._folder, self._process)
            os.environ["PREFECT_API_URL"] = self._api.url
            _tell_prefect()
        return self._api


def _tell_prefect() -> None:
    """Without this, a Prefect that was imported meanwhile would start a server of its own."""
    from prefect.context import refresh_global_settings_context

    refresh_global_settings_context()


def _hold_client_lock(folder: Path) -> None:
    """Keeps the embedded server alive as long as this process. Waits for one that is just going away."""
    fcntl.flock(os.open(folder / "clients.lock", os.O_RDWR | os.O_CREAT, 0o644), fcntl.LOCK_SH)


def _start_unless_running(folder: Path, port: int) -> subprocess.Popen[bytes] | None:
    """One command starts the server; whoever comes meanwhile waits for it and shares it."""
    descriptor = os.open(folder / "start.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        starter = _read_json(folder / "starting.json").get("pid")
        if _running_url(folder) or (isinstance(starter, int) and _is_server(starter)):
            return None
        (folder / "server.json").unlink(missing_ok=True)
        prepare_database(folder)
        with (folder / "server.log").open("wb") as log:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "buildloop.cli.server_child",
                    str(folder),
                    *([str(port)] if port else []),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=folder,
                env=_absolute_python_path(os.environ),
            )
        (folder / "starting.json").write_text(json.dumps({"pid": process.pid}))
        return process
    finally:
        os.close(descriptor)


def _absolute_python_path(environment: Mapping[str, str]) -> dict[str, str]:
    """The server works in its own folder, where a relative search path would lead nowhere."""
    entries = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    found = os.pathsep.join(str(Path(entry).absolute()) for entry in entries)
    return {**environment, "PYTHONPATH": found} if found else dict(environment)


def _wait_until_up(folder: Path, process: subprocess.Popen[bytes] | None) -> PrefectApi:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if url := _running_url(folder):
            return PrefectApi(url, embedded=True)
        if process is not None and process.poll() is not None:
            break
        time.sleep(POLL_SECONDS)
    last = (folder / "server.log").read_text(errors="replace").strip().splitlines()[-1:]
    raise InputError(
        f"the embedded Prefect server did not start: {one_line(''.join(last)) or 'no message'} "
        f"(see {folder / 'server.log'})"
    )


def _running_url(folder: Path) -> str | None:
    port = _read_json(folder / "server.json").get("port")
    url = f"http://127.0.0.1:{port}/api"
    return url if isinstance(port, int) and answers(url) else None


def _is_server(pid: int) -> bool:
    try:
        return any("server_child" in word for word in psutil.Process(pid).cmdline())
    except psutil.Error:
        return False


def answers(url: str, timeout: float = 5.0) -> bool:
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=timeout) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return True  # somebody is there; what it thinks of us, Prefect's client will say
    except (urllib.error.URLError, OSError, ValueError):
        return False


def _require_answer(url: str) -> None:
    if not answers(url):
        raise InputError(
            f"the Prefect server at {url} does not answer; start it with 'prefect server start', "
            "or unset PREFECT_API_URL to use the embedded one"
        )


def _read_json(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
