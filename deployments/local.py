"""Server and worker of one machine, in the background: started, found again, stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from buildloop.cli.prefect_api import QUIET, answers, configured_url
from buildloop.cli.prefect_schema import prepare_database
from buildloop.files import write_json
from buildloop.storage import default_state_dir

PORT = 4200
START_SECONDS = 180.0
STOP_SECONDS = 20.0
# So that `prefect deployment run … --watch` shows the log lines of a run too.
LOG_STREAMING = {
    "PREFECT_SERVER_LOGS_STREAM_OUT_ENABLED": "true",
    "PREFECT_SERVER_LOGS_STREAM_PUBLISHING_ENABLED": "true",
}


def folder() -> Path:
    return Path(default_state_dir()) / "server"


def up() -> int:
    """Everything a machine needs. Done again, it starts only what is missing."""
    here = folder()
    here.mkdir(parents=True, exist_ok=True)
    url = configured_url(os.environ)
    if url is None:
        url = f"http://127.0.0.1:{os.environ.get('PREFECT_SERVER_API_PORT', PORT)}/api"
        os.environ["PREFECT_HOME"] = str(here)
        if not _start_server(here, url):
            return 1
        print(f"server          {url.removesuffix('/api')} (log: {here / 'server.log'})")
    elif not answers(url):
        print(
            f"the Prefect server at {url} does not answer; start it, or unset PREFECT_API_URL",
            file=sys.stderr,
        )
        return 2
    else:
        print(f"server          {url.removesuffix('/api')} (yours)")
    os.environ.update({"PREFECT_API_URL": url, **{k: os.environ.get(k, v) for k, v in QUIET.items()}})
    from deployments.apply import POOL, apply_all  # noqa: PLC0415 (Prefect reads its settings at import)

    apply_all()
    _start(here, "worker", ["worker", "start", "--pool", POOL, "--type", "process"], os.environ)
    print(f"worker          1 process worker on pool {POOL} (log: {here / 'worker.log'})")
    print(_next_steps(url))
    return 0


def down() -> int:
    stopped = [name for name in ("worker", "server") if _stop(folder(), name)]
    print(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")
    return 0


def status() -> int:
    running = {name: process.pid for name in ("server", "worker") if (process := _found(folder(), name))}
    for name in ("server", "worker"):
        print(f"{name:<15} {f'process {running[name]}' if name in running else 'not running'}")
    return 0 if len(running) == 2 else 1


def _next_steps(url: str) -> str:
    return (
        "\nready. In your shell:\n"
        f"  export PREFECT_API_URL={url}\n"
        "  prefect deployment run build-loop/on-demand --watch --param \\\n"
        '    \'request={"goal": "make the tests pass", "repo": "/path/to/repo", "test": ["pytest -q"], '
        '"agent_command": "my-agent"}\'\n'
        f"or in the browser: {url.removesuffix('/api')}/deployments\n"
        "stop it with: make undeploy   (python -m deployments down)"
    )


def _start_server(here: Path, url: str) -> bool:
    if _found(here, "server") is None and answers(url):
        print(
            f"something else answers at {url}; set PREFECT_API_URL to use it, or PREFECT_SERVER_API_PORT for another",
            file=sys.stderr,
        )
        return False
    prepare_database(here)
    port = url.removesuffix("/api").rsplit(":", 1)[-1]
    environment = {**os.environ, **QUIET, **LOG_STREAMING}
    server = _start(here, "server", ["server", "start", "--host", "127.0.0.1", "--port", port], environment)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if answers(url):
            return True
        if not server.is_running() or server.status() == psutil.STATUS_ZOMBIE:
            break
        time.sleep(0.1)
    tail = (here / "server.log").read_text(errors="replace").splitlines()[-5:]
    print("the server did not start:", *tail, f"(see {here / 'server.log'})", sep="\n  ", file=sys.stderr)
    return False


def _start(here: Path, name: str, arguments: list[str], environment: Mapping[str, str]) -> psutil.Process:
    """Unless it runs already. The log is added to, so that what happened before a restart can still be read."""
    if known := _found(here, name):
        return known
    with (here / f"{name}.log").open("ab") as log:
        started = subprocess.Popen(
            [sys.executable, "-m", "prefect", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=here,
            env=dict(environment),
            start_new_session=True,
        )
    process = psutil.Process(started.pid)
    write_json(here / f"{name}.json", {"pid": process.pid, "created": process.create_time()})
    return process


def _found(here: Path, name: str) -> psutil.Process | None:
    """The process we started, and not another one that got its number since."""
    try:
        noted = json.loads((here / f"{name}.json").read_text(encoding="utf-8"))
        process = psutil.Process(noted["pid"])
        same = abs(process.create_time() - noted["created"]) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except (OSError, ValueError, KeyError, psutil.Error):
        return None
    return process if same else None


def _stop(here: Path, name: str) -> bool:
    process = _found(here, name)
    if process is not None:
        family = [process, *process.children(recursive=True)]
        process.terminate()
        for left in psutil.wait_procs(family, timeout=STOP_SECONDS)[1]:
            left.kill()
    (here / f"{name}.json").unlink(missing_ok=True)
    return process is not None
