"""`buildloop cancel`: stop a run that works somewhere else; it can be resumed."""

from __future__ import annotations

import getpass
import os
import signal
import socket
import time
from pathlib import Path

from buildloop.cancel import ask_to_stop
from buildloop.cli.output import console, print_json
from buildloop.cli.paths import state_folder
from buildloop.errors import BuildloopError, InputError
from buildloop.rundir import RunDir, find_run
from buildloop.workspace.lock import local_owner

POLL_SECONDS = 0.1
# By then a run that waits for a process has noticed; one that sleeps in Prefect needs a signal.
PATIENCE_SECONDS = 6.0
LONGEST_SECONDS = 20.0


def cancel_run(run_id: str | None, state_dir: Path | None, *, as_json: bool) -> None:
    run = find_run(state_folder(state_dir), run_id)
    if not run.is_running():
        raise InputError(f"run {run.run_id} is not running; nothing to cancel")
    ask_to_stop(run.path, f"{getpass.getuser()} on {socket.gethostname()}")
    if not _ended(run, PATIENCE_SECONDS) and (owner := local_owner(run.path)) is not None:
        os.kill(owner, signal.SIGTERM)
    if not _ended(run, LONGEST_SECONDS - PATIENCE_SECONDS):
        raise BuildloopError(
            f"run {run.run_id} was asked to stop but has not ended yet; look at it with 'status'"
        )
    if as_json:
        print_json({"run_id": run.run_id, "state": "cancelled"})
    else:
        sentence = f"run {run.run_id} is cancelled; continue it with 'buildloop resume {run.run_id}'"
        console().print(sentence, markup=False)


def _ended(run: RunDir, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while run.is_running():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
