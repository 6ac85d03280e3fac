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
from buildloop.people.asked import open_question
from buildloop.rundir import RunDir, find_run
from buildloop.workspace.lock import is_at_work, local_owner

POLL_SECONDS = 0.1
# By then a run that waits for a process has noticed; one that sleeps in Prefect needs a signal.
PATIENCE_SECONDS = 6.0
LONGEST_SECONDS = 20.0


def cancel_run(run_id: str | None, state_dir: Path | None, *, as_json: bool) -> None:
    run = find_run(state_folder(state_dir), run_id)
    if not run.is_running():
        raise InputError(_nothing_to_cancel(run))
    ask_to_stop(run.path, f"{getpass.getuser()} on {socket.gethostname()}")
    # A command that is still starting its server does not look for the request yet.
    patience = PATIENCE_SECONDS if is_at_work(run.path) else 0
    if not _ended(run, patience) and (owner := local_owner(run.path)) is not None:
        os.kill(owner, signal.SIGTERM)
    if not _ended(run, LONGEST_SECONDS - patience):
        raise BuildloopError(
            f"run {run.run_id} was asked to stop but has not ended yet; look at it with 'status'"
        )
    if as_json:
        print_json({"run_id": run.run_id, "state": "cancelled"})
    else:
        sentence = f"run {run.run_id} is cancelled; continue it with 'buildloop resume {run.run_id}'"
        console().print(sentence, markup=False)


def _nothing_to_cancel(run: RunDir) -> str:
    if open_question(run) is not None:
        return f"run {run.run_id} waits for an answer; end it with 'buildloop tell {run.run_id} --stop'"
    return f"run {run.run_id} is not running; nothing to cancel"


def _ended(run: RunDir, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while run.is_running():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
