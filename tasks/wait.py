"""Waits for an agent that has said when it will answer again."""

from __future__ import annotations

import time
from dataclasses import dataclass

from prefect import task

from buildloop.cancel import check_stop
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from buildloop.stopwatch import not_counted
from tasks.masked_errors import masked_errors
from tasks.options import tell

POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class WaitInput:
    """`until` is in seconds since 1970; `why` is the agent's own sentence."""

    request: BuildRequest
    number: int
    attempt: int
    until: float
    why: str

    @property
    def label(self) -> str:
        return f"waiting until {time.strftime('%H:%M', time.localtime(self.until))}"


@task(name="wait", task_run_name="{given.label}")
@masked_errors
def wait(given: WaitInput) -> None:
    """A visible wait instead of a frozen line. Not kept as a result: after a crash there may be nothing to wait for."""
    RunDir(given.request.run_dir).events.emit(
        "loop.agent_waiting",
        iteration=given.number,
        attempt=given.attempt,
        seconds=round(max(0.0, given.until - time.time()), 1),
        error=given.why,
    )
    tell(given.label, "agent", "waiting")
    with not_counted(given.request.run_dir):
        while (left := given.until - time.time()) > 0:
            check_stop()
            time.sleep(min(POLL_SECONDS, left))
