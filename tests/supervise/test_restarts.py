"""Killed again and again, the supervisor loses and doubles nothing: the server's idempotency keys are the real ones."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from buildloop.events import read_events
from buildloop.files import write_atomic
from buildloop.request import BuildRequest
from buildloop.result import BuildResult, StopReason
from buildloop.rundir import RunDir
from buildloop.supervise.ledger import Ledger
from buildloop.supervise.model import Status
from tests.support.command import command_environment
from tests.support.waiting import eventually

pytestmark = pytest.mark.server
KILLS, REQUESTS = 20, 30
GREEN, RED, REFUSED, AWAY = (
    StopReason.COMPLETE,
    StopReason.MAX_ITERATIONS,
    StopReason.AGENT_REFUSED,
    StopReason.AGENT_UNAVAILABLE,
)
# What the runs of a request come to, one after the other; what follows from that for the request.
KINDS: dict[str, tuple[tuple[StopReason, ...], Status]] = {
    "green": ((GREEN,), Status.DONE),
    "third": ((RED, RED, GREEN), Status.DONE),
    "refused": ((REFUSED,), Status.GIVEN_UP),
    "hopeless": ((RED, RED, RED), Status.GIVEN_UP),
    "outage": ((AWAY, GREEN), Status.DONE),
    "invalid": ((), Status.INVALID),
}


@dataclass
class Supervisor:
    """The process that forks supervisors, and the one that is alive."""

    parent: subprocess.Popen[str]
    pid: int = 0

    def start(self) -> None:
        assert self.parent.stdin is not None
        self.parent.stdin.write("go\n")
        self.parent.stdin.flush()
        self.pid = int(self.parent.stdout.readline())

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


@contextmanager
def supervisor(api: str, *arguments: object) -> Iterator[Supervisor]:
    daemon = Path(__file__).with_name("daemon.py")
    with subprocess.Popen(
        [sys.executable, str(daemon), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=command_environment(api, {"PREFECT_LOGGING_LEVEL": "CRITICAL"}),
    ) as parent:
        made = Supervisor(parent)
        try:
            assert parent.stdout.readline() == "ready\n"
            yield made
        finally:
            if made.pid:
                made.kill()
            parent.kill()


@pytest.fixture
def deployment(prefect_server) -> str:
    """On the server, without a worker: the test itself plays the workers."""
    from prefect.client.orchestration import get_client

    from flows.build_loop import build_loop

    with get_client(sync_client=True) as client:
        client.create_deployment(client.create_flow(build_loop), "supervised")
    return "build-loop/supervised"


@pytest.fixture
def play_workers(deployment) -> Callable[[], list[tuple[str, str]]]:
    """Ends every flow run that is scheduled, as its request says; what was run so far, as (request, run id)."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterName
    from prefect.states import Completed, Failed

    ran: list[tuple[str, str]] = []

    def play() -> list[tuple[str, str]]:
        with get_client(sync_client=True) as client:
            mine = DeploymentFilter(name=DeploymentFilterName(any_=["supervised"]))
            for run in client.read_flow_runs(deployment_filter=mine, limit=200):
                if run.state is None or run.state.is_final():
                    continue
                request = BuildRequest.model_validate(run.parameters["request"])
                kind = request.goal.split()[0]
                number = sum(goal == request.goal for goal, _ in ran)
                reason = KINDS[kind][0][number]
                _leave_result(request, reason)
                ended = Completed() if reason is GREEN else Failed(name=str(reason))
                client.set_flow_run_state(run.id, ended, force=True)
                ran.append((request.goal, str(request.run_id)))
        return ran

    return play


def _leave_result(request: BuildRequest, reason: StopReason) -> None:
    run = RunDir(request.run_dir)
    given = {"explanation": "e", "next_step": "n", "iterations": 1, "sessions": 1, "commit": "c", "tree": "t"}
    run.save(
        "result.json",
        BuildResult(
            run_id=run.run_id, reason=reason, branch=f"buildloop/{run.run_id}", run_dir=str(run.path), **given
        ),
    )
    (run.path / "failure-mode.json").write_text(json.dumps({"mode": "code_error"}))


def test_twenty_kills_over_thirty_requests(prefect_server, deployment, play_workers, tmp_path):
    inbox, ledger = tmp_path / "inbox", Ledger(tmp_path / "ledger")
    inbox.mkdir()
    kinds = [list(KINDS)[number % len(KINDS)] for number in range(REQUESTS)]

    def put(number: int) -> None:
        kind = kinds[number]
        fields = {"goal": f"{kind} {number}", "repo": "/r", "test": ["true"], "agent_command": "a"}
        fields |= {"state_dir": str(tmp_path / "state")} | ({"tset": 1} if kind == "invalid" else {})
        write_atomic(inbox / f"{number:02}.json", json.dumps(fields))

    for number in range(REQUESTS - KILLS):
        put(number)
    chance, moment = random.Random(7), threading.Event()

    def written() -> int:
        """Grows with whatever the supervisor does."""
        files = [*ledger.folder.glob("cases/*.json"), ledger.folder / "events.jsonl"]
        return sum(path.stat().st_mtime_ns + path.stat().st_size for path in files if path.exists())

    def closed() -> bool:
        return len(ledger.cases()) == REQUESTS and all(
            case.status is not Status.OPEN and case.said for case in ledger.cases()
        )

    with supervisor(prefect_server, inbox, ledger.folder, deployment) as daemon:
        for number in range(REQUESTS - KILLS, REQUESTS):
            before = written()
            put(number)  # so that there is something to do, however far it came before
            daemon.start()
            eventually(lambda before=before: written() != before)
            moment.wait(chance.random() * 0.01)
            daemon.kill()
            play_workers()
        daemon.start()
        eventually(lambda: play_workers() and closed(), 400)
        ran = play_workers()

    runs = Counter(goal for goal, _ in ran)
    expected = {
        f"{kind} {number}": len(KINDS[kind][0]) for number, kind in enumerate(kinds) if KINDS[kind][0]
    }
    assert runs == expected
    assert {case.fields["goal"]: case.status for case in ledger.cases()} == {
        f"{kind} {number}": KINDS[kind][1] for number, kind in enumerate(kinds)
    }
    names = Counter(run_id for _, run_id in ran)
    resumed = {run_id for run_id, times in names.items() if times == 2}
    assert len(resumed) == kinds.count("outage"), "only what was interrupted is continued"
    told = Counter(
        (event["type"], event["issue"], event["attempt"]) for event in read_events(ledger.events.path)
    )
    assert set(told.values()) == {1}
    failures = sum(len(ends) - (GREEN in ends) for ends in (KINDS[kind][0] for kind in kinds))
    assert sum(kind == "daemon.failure_classified" for kind, _, _ in told) == failures
    for case in ledger.cases():
        said = sorted(path.stem for path in (inbox / f"{case.id}.answers").glob("*.md"))
        assert said == sorted(case.said)
