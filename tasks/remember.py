"""Asks memory before an iteration and tells it afterwards. Memory never fails a run: it degrades, and says so once."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from typing import TypeVar

from prefect import task

from buildloop.errors import BuildloopError
from buildloop.events import read_events
from buildloop.memory.history import learn, recall_history
from buildloop.memory.location import Kind, memory_location
from buildloop.memory.model import History
from buildloop.memory.store import Store, open_store
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
from tasks.options import DURABLE, tell

T = TypeVar("T")


@task(name="recall", task_run_name="recall s{state.session} i{state.number}", **DURABLE)
def recall(key: str, state: LoopState) -> History:
    """What the next prompt says about the past. Kept as a result: memory grows, a replayed prompt must not."""
    emit = RunDir(state.request.run_dir).events.emit

    def ask(store: Store) -> History:
        now = _now()
        found = recall_history(store, state, now)
        history = shown_in(found, compose_prompt(state, found).text)
        for one in history.recalled:
            record_suggestion(store, one.suggestion, now, emit)
        return history

    history = _with_memory(state, ask) or History()
    fixes = sum(1 for one in history.recalled for action in one.actions if action.fix)
    tell(f"recall s{state.session} i{state.number + 1}: {fixes} known fixes", "memory")
    return history


@task(name="remember", task_run_name="remember s{state.session} i{state.number}", **DURABLE)
def remember(key: str, state: LoopState) -> int:
    """The number of failures that the last iteration is known to have fixed."""
    emit = RunDir(state.request.run_dir).events.emit
    outcomes = _with_memory(state, lambda store: learn(store, state, _now(), redactor(os.environ), emit))
    fixed = sum(1 for outcome in outcomes or () if outcome.fixed)
    tell(f"remember s{state.session} i{state.number}: {fixed} fixed", "memory")
    return fixed


def _with_memory(state: LoopState, work: Callable[[Store], T]) -> T | None:
    """What `work` says, and the run's suggestions written out; None where memory is off or cannot be used."""
    try:
        place = memory_location(os.environ)
        if place.kind is Kind.OFF:
            return None
        with closing(open_store(place)) as store:
            said = work(store)
            run = RunDir(state.request.run_dir)
            export_suggestions(suggestions_of(store, run.run_id), run.path / SUGGESTIONS_FILE)
            return said
    except Exception as error:  # whatever it is, a run that could go on must go on
        _degrade(
            state, str(error) if isinstance(error, BuildloopError) else f"{type(error).__name__}: {error}"
        )
        return None


def _degrade(state: LoopState, why: str) -> None:
    log = RunDir(state.request.run_dir).events
    told = (event for event in read_events(log.path) if event["type"] == "loop.degraded")
    if not any(event.get("what") == "memory" and event.get("why") == why for event in told):
        log.emit("loop.degraded", what="memory", why=why)


def _now() -> int:
    return int(datetime.now(UTC).timestamp())
