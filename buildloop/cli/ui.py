"""`buildloop ui`: the Prefect UI over the runs of this machine."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

from buildloop.cli.output import console
from buildloop.cli.paths import state_folder
from buildloop.cli.prefect_api import start_prefect


def serve_ui(port: int, state_dir: Path | None) -> int:
    screen, ended = console(), threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    starting = start_prefect(state_folder(state_dir), port=port)
    screen.print("starting the Prefect server …")
    api = starting.wait()
    screen.print(f"Prefect UI: {api.ui}", markup=False)
    if not api.embedded:
        screen.print("it belongs to PREFECT_API_URL, so it is not ours to start or stop", markup=False)
        return 0
    screen.print("Ctrl-C ends it")
    ended.wait()
    return 0
