"""Runs `buildloop run` on a scripted task and watches its process while it works."""

from __future__ import annotations

import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.bench.place import buildloop, environment
from benchmarks.bench.scripted import Call, Task, overheads

LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Look:
    """The process of the loop at one moment; the iteration is the number of agent calls that have ended."""

    iteration: int
    rss_mb: float
    open_files: int
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class LoopRun:
    """`wall` is the whole command, from its start to its end."""

    task: Task
    state: Path
    began: float
    wall: float
    calls: tuple[Call, ...]
    looks: tuple[Look, ...]
    server_cpu: float
    ended_well: bool

    @property
    def iterations(self) -> int:
        return sum(call.who == "agent" for call in self.calls)

    @property
    def overheads(self) -> list[float]:
        return overheads(list(self.calls))

    @property
    def first_call(self) -> float:
        """Seconds from the command to the agent."""
        return next(call.began for call in self.calls if call.who == "agent") - self.began

    @property
    def between_calls(self) -> float:
        """Seconds from the first call of the agent to the end of the last gate: the loop without start and end."""
        first = next(call.began for call in self.calls if call.who == "agent")
        return self.calls[-1].ended - first

    def look_at(self, iteration: int) -> Look | None:
        """The first look after that many iterations."""
        return next((look for look in self.looks if look.iteration >= iteration), None)


@dataclass
class _Watch:
    task: Task
    process: psutil.Process
    looks: list[Look] = field(default_factory=list)

    def look(self) -> None:
        try:
            with self.process.oneshot():
                times = self.process.cpu_times()
                spent = times.user + times.system + times.children_user + times.children_system
                memory, files = self.process.memory_info().rss / 1e6, self.process.num_fds()
        except psutil.Error:
            return
        log = self.task.folder / "calls.log"
        ended = log.read_text().count("agent ") if log.exists() else 0
        self.looks.append(Look(ended, memory, files, spent))


def run_loop(
    task: Task, home: Path, api: str | None, longest: float, server_pid: int | None = None
) -> LoopRun:
    """Ends after `longest` seconds, done or not; what it did until then is measured all the same."""
    state, server = home / "state", psutil.Process(server_pid) if server_pid else None
    home.mkdir(parents=True, exist_ok=True)
    command = buildloop(
        "run", "reach the count", "--repo", str(task.repo), "--test", f"{task.gate}",
        "--agent-command", str(task.agent), "--max-iterations", str(task.wanted), "--extension-size", "0",
        "--context-window", "0", "--state-dir", str(state),
    )  # fmt: skip
    cpu_before, began = _tree_cpu(server), time.time()
    with (home / "run.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment(home, api), cwd=home, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        watch, over = _Watch(task, psutil.Process(process.pid)), threading.Event()
        watcher = threading.Thread(target=_keep_looking, args=(watch, over))
        watcher.start()
        try:
            code = process.wait(longest)
        except subprocess.TimeoutExpired:
            code = _ended(process)
        finally:
            over.set()
            watcher.join()
    wall, calls = time.time() - began, tuple(task.calls)
    if sum(call.who == "agent" for call in calls) == 0:
        said = (home / "run.log").read_text(errors="replace").strip().splitlines()[-1:]
        raise RuntimeError(f"the agent was not called in {wall:.0f} s: {''.join(said) or 'nothing was said'}")
    return LoopRun(
        task,
        state,
        began,
        wall,
        calls,
        tuple(watch.looks),
        _tree_cpu(server) - cpu_before,
        code == 0,
    )


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Out of time. It may save what it has; what it started ends with it."""
    process.terminate()
    try:
        return process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _keep_looking(watch: _Watch, over: threading.Event) -> None:
    while not over.wait(LOOK_SECONDS):
        watch.look()


def _tree_cpu(server: psutil.Process | None) -> float:
    """Of the server with what it has started."""
    if server is None:
        return 0.0
    times = [one.cpu_times() for one in (server, *server.children(recursive=True))]
    return sum(one.user + one.system for one in times)
