"""Kills a run at points of its progress, not at times: a slow machine is struck at the same places as a fast one."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.chaos_parts.project import GATE, Outcome, make_repo, make_script, outcome_of
from buildloop.rundir import runs_in

ROOT = Path(__file__).parents[2]
TARGETS = ("process", "group", "process", "group", "server")
# An iteration leaves some thirty traces: a strike falls anywhere in the next one.
FURTHEST = 30
LONGEST_WAIT = 10.0
LOOK_SECONDS = 0.002

Note = Callable[[str], None]


def run_once(
    folder: Path,
    bugs: int,
    kills: int,
    dice: random.Random,
    targets: Sequence[str] = TARGETS,
    note: Note = lambda _: None,
    api_url: str | None = None,
) -> tuple[Outcome, int]:
    """One run from start to end; at most `kills` times something is killed on the way. Also how often that was.

    Without `api_url` the run brings its own Prefect server.
    """
    repo, script, state = make_repo(folder, bugs), make_script(folder, bugs), folder / "state"
    first = ["run", "remove all bugs", "--repo", str(repo), "--test", GATE, "--agent-script", str(script)]
    start = functools.partial(_start, state=state, api_url=api_url)
    process, delivered = start(first), 0
    for number in range(kills):
        if not _reaches(process, state, traces(state) + dice.randint(1, FURTHEST)):
            break
        target = targets[number % len(targets)]
        _strike(process, state, target)
        _end(process)
        delivered += 1
        note(f"kill {number + 1}/{kills} ({target})")
        # Killed before it was a run, there is nothing to resume: whoever typed it types it again.
        process = start(["resume"] if runs_in(state) else first)
    process.wait()
    return outcome_of(runs_in(state)[0], repo), delivered


def traces(state: Path) -> int:
    """How far the runs have come: events told, files written, results kept."""
    told = sum(path.read_bytes().count(b"\n") for path in (state / "runs").glob("*/events.jsonl"))
    kept = sum(1 for folder in ("runs", "results") for _ in (state / folder).rglob("*"))
    return told + kept


def _reaches(process: subprocess.Popen[bytes], state: Path, wanted: int) -> bool:
    """Wait until there are so many traces; False when the run ended before."""
    while process.poll() is None:
        if traces(state) >= wanted:
            return True
        time.sleep(LOOK_SECONDS)
    return False


def _start(arguments: list[str], state: Path, api_url: str | None) -> subprocess.Popen[bytes]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "BUILDLOOP_"))
    }
    given = {"PREFECT_API_URL": api_url} if api_url else {}
    return subprocess.Popen(
        [sys.executable, "-m", "buildloop.cli.main", *arguments, "--state-dir", str(state)],
        env={**kept, **given, "PYTHONPATH": str(ROOT), "BUILDLOOP_MEMORY_URL": str(state / "memory.db")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _strike(process: subprocess.Popen[bytes], state: Path, target: str) -> None:
    if target == "server":
        _kill_server(state / "prefect" / "server.json")
    elif target == "group":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _kill_server(address: Path) -> None:
    """The server ends with its last run: at the very end of one there may be none left to kill."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        os.kill(json.loads(address.read_text())["pid"], signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    """A run whose server is gone ends by itself after a while; we need not wait for all of its patience."""
    try:
        process.wait(LONGEST_WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
