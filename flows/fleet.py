"""The flow `fleet`: many goals with bounded parallelism, or a race of several ways to one goal."""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections.abc import Sequence
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID

from prefect import flow, get_run_logger
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from buildloop.cancel import ask_to_stop
from buildloop.errors import BuildloopError
from buildloop.fleet.purse import Purse
from buildloop.fleet.request import FleetRequest, plan_of
from buildloop.fleet.result import Entry, FleetResult, NotStarted, entry_of, entry_without_result, summary
from buildloop.redact import mask_own
from buildloop.request import BuildRequest
from buildloop.result import BuildResult
from buildloop.rundir import RunDir
from buildloop.storage import bucket
from flows.build_loop import build_loop
from tasks import launch
from tasks.artifacts import artifact_key
from tasks.masked_logs import mask_logs
from tasks.options import short_id

LOOK_SECONDS = 0.5
WHO = "the fleet: another way reached the goal first"


@dataclass
class Race:
    """Who won, if it is a race. The first green run is the winner; the others are asked to stop."""

    requests: Sequence[BuildRequest]
    on: bool
    winner: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def over(self) -> bool:
        return self.winner is not None

    def finished(self, entry: Entry) -> None:
        if not self.on or not entry.complete:
            return
        with self._lock:
            if self.winner is not None:
                return
            self.winner = entry.run_id
        self.stop_the_others()

    def stop_the_others(self) -> None:
        """Asked again and again: one that was only just starting has not heard it the first time."""
        if not self.over:
            return
        for request in self.requests:
            if request.run_id != self.winner and RunDir(request.run_dir).is_running():
                ask_to_stop(request.run_dir, WHO)


def _own_id() -> str:
    return f"fleet-{short_id(str(flow_run.id))}"


def _fleet_name() -> str:
    return str(FleetRequest.model_validate(flow_run.parameters["request"]).fleet_id or _own_id())


@flow(name="fleet", flow_run_name=_fleet_name, validate_parameters=True)
def fleet(request: FleetRequest) -> State[FleetResult]:
    """Work on many goals at once, or race several ways to one goal; one summary for all.

    Args:
        request: Which goals, how many at a time, and what they may cost together.
    """
    mask_logs()
    started, fleet_id = time.monotonic(), request.fleet_id or _own_id()
    plan = plan_of(request, fleet_id)
    race = Race(plan.requests, on=plan.race)
    purse = Purse(plan.budget_usd, plan.parallel)
    with ThreadPoolExecutor(plan.parallel, thread_name_prefix="goal") as pool:
        running = [
            pool.submit(contextvars.copy_context().run, _work, each, request.deployment, purse, race)
            for each in plan.requests
        ]
        while futures.wait(running, timeout=LOOK_SECONDS).not_done:
            race.stop_the_others()
        entries = tuple(each.result() for each in running)
    result = FleetResult(
        fleet_id=fleet_id,
        entries=entries,
        winner=race.winner,
        raced=race.on,
        seconds=round(time.monotonic() - started, 1),
    )
    create_markdown_artifact(
        summary(result), key=artifact_key(fleet_id, "fleet"), description=result.in_words
    )
    get_run_logger().info(result.in_words)
    return _final_state(result)


def _work(request: BuildRequest, deployment: str | None, purse: Purse, race: Race) -> Entry:
    """One goal, from its share of the money to its line in the summary. What goes wrong stays with this goal."""
    if race.over:
        return entry_without_result(request, NotStarted.WON, "")
    share = purse.take(request.budget_usd)
    if share == 0:
        return entry_without_result(request, NotStarted.BUDGET, "The fleet's budget is used up.")
    limited = request.model_copy(update={"budget_usd": share})
    try:
        entry = _on_workers(limited, deployment, race) if deployment else _here(limited)
    except BuildloopError as error:
        entry = entry_without_result(limited, "refused", str(error))
    except Exception as error:  # one crashed run must not take the others along; its own flow run tells more
        entry = entry_without_result(limited, "crashed", mask_own(f"{type(error).__name__}: {error}"))
    purse.pay(share, _cost(limited, entry, deployment))
    race.finished(entry)
    get_run_logger().info(f"{entry.run_id}: {entry.outcome}")
    return entry


def _cost(request: BuildRequest, entry: Entry, deployment: str | None) -> float | None:
    """What it really cost, also if it ended without a result; None where nobody can tell."""
    if entry.iterations:
        return entry.cost_usd
    ledger = RunDir(request.run_dir).ledger
    if ledger.calls():
        return ledger.spent().cost_usd
    elsewhere = deployment is not None and bucket(os.environ) is not None
    return None if elsewhere else 0.0


def _here(request: BuildRequest) -> Entry:
    outcome: Any = build_loop(request, return_state=True).result(raise_on_failure=False)
    if isinstance(outcome, BuildResult):
        return entry_of(request, outcome)
    if isinstance(outcome, BaseException):
        raise outcome
    return entry_without_result(request, "crashed", "the run ended without a result")


def _on_workers(request: BuildRequest, deployment: str, race: Race) -> Entry:
    """Under a key of its own, so that a fleet that is started again finds its runs instead of doubling them."""
    started = _flow_run(request, deployment)
    found = launch.wait(started, request, lambda: WHO if race.over else None)
    if found.result is not None:
        return entry_of(request, found.result)
    return entry_without_result(request, found.reason or found.state_name.lower(), found.message)


def _flow_run(request: BuildRequest, deployment: str) -> UUID:
    """One that an earlier start of the fleet has made, unless it came to nothing: then it is tried once more."""
    for attempt in count(1):
        key = f"buildloop/{request.run_id}" if attempt == 1 else f"buildloop/{request.run_id}/{attempt}"
        started = launch.start(deployment, request, key, tags=("fleet",))
        before = launch.look(started, request)
        if before is None or (before.reason is not None and before.reason.is_success):
            return started
    raise AssertionError("counting does not end")


def _final_state(result: FleetResult) -> State[Any]:
    if result.complete:
        return Completed(message=result.in_words, data=result)
    return Failed(name="Incomplete", message=result.in_words, data=result)
