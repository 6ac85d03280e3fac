"""Asks memory before an iteration and tells it afterwards. Memory never fails a run: it degrades, and says so once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from prefect import task

from buildloop.errors import BuildloopError
from buildloop.events import read_events
from buildloop.memory.history import learn, recall_history
from buildloop.memory.location import Kind, Location, memory_location
from buildloop.memory.model import History
from buildloop.memory.outcomes import Outcome
from buildloop.memory.store import LOOKUP_SECONDS, WRITE_SECONDS, Store, open_store
from buildloop.memory.suggestions import (
    SUGGESTIONS_FILE,
    export_suggestions,
    record_suggestion,
    suggestions_of,
)
from buildloop.prompt.compose import compose_prompt
from buildloop.prompt.history import shown_in
from buildloop.redact import redactor
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from tasks.live_views import show_soon
from tasks.masked_errors import masked_errors
from tasks.options import DURABLE, tell

T = TypeVar("T")


@task(name="recall", task_run_name="recall s{state.session} i{state.number}", **DURABLE)
@masked_errors
def recall(key: str, state: LoopState, hints: Sequence[str] = ()) -> History:
    """What the next prompt says about the past, beside the `hints` of people. Kept as a result: memory grows, a
    replayed prompt must not."""
    history = _with_memory(state, partial(_ask, state, hints), LOOKUP_SECONDS) or History()
    tell(f"recall s{state.session} i{state.number + 1}: {history.known_fixes} known fixes", "memory")
    return history


def remember(state: LoopState) -> int:
    """Tells memory of the last iteration; the number of failures that it is known to have fixed. Told again, nothing
    counts twice."""
    outcomes = _with_memory(state, partial(_tell, state), WRITE_SECONDS)
    return _fixed(outcomes or ())


def remember_and_recall(state: LoopState, hints: Sequence[str]) -> tuple[int, History | None]:
    """Both, where another iteration follows: the store is opened once. No history where it could not be used: then
    it is asked once more before the prompt."""

    def both(store: Store, left: float) -> tuple[int, History]:
        return _fixed(_tell(state, store, left)), _ask(state, hints, store, LOOKUP_SECONDS)

    return _with_memory(state, both, WRITE_SECONDS, off=(0, History())) or (0, None)


def _ask(state: LoopState, hints: Sequence[str], store: Store, left: float) -> History:
    now, emit = _now(), RunDir(state.request.run_dir).events.emit
    found = recall_history(store, state, now, left)
    history = shown_in(found, compose_prompt(state, found, hints).text)
    with store.within(WRITE_SECONDS):
        for one in history.recalled:
            record_suggestion(store, one.suggestion, now, emit)
    return history


def _tell(state: LoopState, store: Store, left: float) -> list[Outcome]:
    emit = RunDir(state.request.run_dir).events.emit
    with store.within(left):
        return learn(store, state, _now(), redactor(os.environ), emit)


def _fixed(outcomes: Sequence[Outcome]) -> int:
    return sum(1 for outcome in outcomes if outcome.fixed)


def _with_memory(
    state: LoopState, work: Callable[[Store, float], T], seconds: float, off: T | None = None
) -> T | None:
    """What `work` says in the time that is left after the store was opened; None where memory cannot be used, and
    `off` where it shall not be. The run's suggestions are written out soon after."""
    run, end = RunDir(state.request.run_dir), time.monotonic() + seconds
    try:
        place = memory_location(os.environ)
        if place.kind is Kind.OFF:
            return off
        with closing(open_store(place, seconds)) as store:
            said = work(store, end - time.monotonic())
        show_soon(run.run_id, "suggestions", lambda: _export(run, place))
    except Exception as error:  # whatever it is, a run that could go on must go on
        why = str(error) if isinstance(error, BuildloopError) else f"{type(error).__name__}: {error}"
        memory_degraded(run, why)
        return None
    else:
        return said


def _export(run: RunDir, place: Location) -> None:
    try:
        with closing(open_store(place, LOOKUP_SECONDS)) as store, store.within(LOOKUP_SECONDS):
            suggestions = suggestions_of(store, run.run_id)
        export_suggestions(suggestions, run.path / SUGGESTIONS_FILE)
    except Exception as error:  # the file is a view of what memory has
        memory_degraded(run, f"{SUGGESTIONS_FILE}: {error}")


def memory_degraded(run: RunDir, why: str) -> None:
    """Said once a run, whatever else goes wrong with memory later."""
    told = read_events(run.events.path, only="loop.degraded")
    if not any(event.get("what") == "memory" for event in told):
        run.events.emit("loop.degraded", what="memory", why=why)


def _now() -> int:
    return int(datetime.now(UTC).timestamp())
