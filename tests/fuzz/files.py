"""The run directory's own files: damaged, half-written or made by somebody else they cost one sentence at most."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from rich.console import Console

from buildloop.cli.display import LiveLine, finished_line
from buildloop.events import EVENT_FIELDS, EventLog, read_events
from buildloop.ledger import Call, call_of
from buildloop.models import AgentOutcome, AgentReply, Usage
from buildloop.people.answer import Answer, read_answer
from buildloop.people.hints import hints
from buildloop.recovery.quarantine import quarantined
from buildloop.report.facts import facts_of
from buildloop.report.write import write_reports
from buildloop.rundir import RunDir
from buildloop.stopwatch import worked_seconds
from tests.fuzz.target import Target, put
from tests.fuzz.values import DEEP, JSON, TEXT, as_bytes, lines_of, near
from tests.support import runs
from tests.support.states import request

NOW = datetime(2026, 11, 16, tzinfo=UTC)
STORY = runs.one_iteration()
REPLY = AgentReply(outcome=AgentOutcome.OK, usage=Usage(input_tokens=3, cost_usd=0.5), text="done")
CALL = call_of(1, 1, REPLY, NOW)
HINT = {"id": "a1", "text": "try b", "by": "ada", "at": "2026-11-16T00:00:00Z"}
QUARANTINED = [
    {"test": "t", "since": "2026-11-16T00:00:00Z", "until": "2036-11-16T00:00:00Z", "evidence": ["e"]}
]


def document(value: Any) -> Any:
    return json.loads(value.model_dump_json())


def _run(folder: Path) -> RunDir:
    """A whole run of one iteration, as `buildloop report` finds it."""
    run = RunDir(folder / "runs" / "r1")
    run.save("request.json", STORY.request)
    assert STORY.workspace is not None and STORY.result is not None
    run.save("workspace.json", STORY.workspace)
    run.save("result.json", STORY.result)
    for step in STORY.iterations:
        run.save_iteration(step)
    return run


def _damaged(name: str, content: str, folder: Path) -> None:
    """Every command that tells of a run reads these files through `facts_of`."""
    run = _run(folder)
    put(run.path / name, as_bytes(content))
    write_reports(run, facts_of(run))
    worked_seconds(run.path)


def _reply(content: str, folder: Path) -> None:
    put(folder / "reply.json", as_bytes(content))
    RunDir(folder).reply(folder)


def _request_round_trip(fields: dict[str, Any], folder: Path) -> None:
    asked = request(**fields)
    RunDir(folder).save("request.json", asked)
    assert RunDir(folder).request() == asked


def _events(content: str, folder: Path) -> None:
    log = put(folder / "events.jsonl", as_bytes(content))
    line, console = LiveLine(10), Console(file=(folder / "screen").open("w"))
    for event in read_events(log):
        line.take(event)
        console.print(line.text())
        console.print(finished_line(event) or "")


def _event_round_trip(given: tuple[str, Any], folder: Path) -> None:
    event_type, value = given
    log = EventLog(folder / "events.jsonl", "r1")
    told = log.emit(event_type, **dict.fromkeys(EVENT_FIELDS[event_type], value))
    (found,) = read_events(log.path)
    assert json.dumps(found) == json.dumps(told)


def _ledger(content: str, folder: Path) -> None:
    put(folder / "ledger.jsonl", as_bytes(content))
    RunDir(folder).ledger.spent()


def _ledger_round_trip(call: Call, folder: Path) -> None:
    ledger = RunDir(folder).ledger
    ledger.add(call)
    assert ledger.calls() == [call]


def _hints(content: str, folder: Path) -> None:
    put(folder / "hints.jsonl", as_bytes(content))
    hints(folder)


def _answer(content: str, folder: Path) -> None:
    put(folder / "answers" / "1-stuck.json", as_bytes(content))
    read_answer(folder, "1-stuck")


def _quarantine(content: str, folder: Path) -> None:
    put(folder / "quarantine" / "id.json", as_bytes(content))
    quarantined(folder, "id", NOW)


ITERATION = document(STORY.iterations[1])
DOCUMENTS: dict[str, Any] = {
    "request.json": document(STORY.request),
    "workspace.json": document(STORY.workspace),
    "result.json": document(STORY.result),
    "iterations/1-1/iteration.json": ITERATION,
    "github.json": {"comment": 1, "comment_url": "u", "pull": 2, "pull_url": "v"},
    "advice.json": {"similar": [], "actions": ["a"]},
    "worked.json": {"seconds": 1.5},
}
EVENTS = [
    {
        "ts": "2026-11-16T00:00:00Z",
        "ts_epoch": 1,
        "type": name,
        "run_id": "r",
        **dict.fromkeys(sorted(fields), 1),
    }
    for name, fields in EVENT_FIELDS.items()
]
SAFE = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
FINITE = st.floats(0.001, 1e12)
CALLS = st.builds(
    Call,
    session=st.integers(0, 10**9),
    iteration=st.integers(0, 10**9),
    agent=SAFE,
    ended=st.datetimes(timezones=st.just(UTC)),
    outcome=st.sampled_from(AgentOutcome),
    seconds=FINITE,
    usage=st.builds(Usage, input_tokens=st.none() | st.integers(0, 10**15), cost_usd=st.none() | FINITE),
    error=SAFE,
)
# A request with a NUL is refused.
PASSABLE = SAFE.filter(lambda text: "\0" not in text)
REQUESTS = st.fixed_dictionaries(
    {"goal": PASSABLE.filter(str.strip)},
    optional={
        "context": PASSABLE,
        "test": st.lists(PASSABLE.filter(str.strip), min_size=1, max_size=3),
        "budget_usd": FINITE,
        "gate_timeout": FINITE,
        "model": PASSABLE,
        "max_iterations": st.integers(1, 10**12),
    },
)

FILE_TARGETS: tuple[Target, ...] = (
    *(
        Target(name.rpartition("/")[2], near(known) | DEEP, partial(_damaged, name))
        for name, known in DOCUMENTS.items()
    ),
    Target("reply.json", near(document(REPLY)) | DEEP, _reply),
    Target("request round trip", REQUESTS, _request_round_trip, any_text=False),
    Target("events.jsonl", lines_of(*EVENTS), _events),
    Target(
        "event round trip",
        st.tuples(st.sampled_from(list(EVENT_FIELDS)), JSON | TEXT),
        _event_round_trip,
        any_text=False,
    ),
    Target("ledger.jsonl", lines_of(document(CALL)), _ledger),
    Target("ledger round trip", CALLS, _ledger_round_trip, any_text=False),
    Target("hints.jsonl", lines_of(HINT), _hints),
    Target("answer of a person", near(document(Answer())) | DEEP, _answer),
    Target("quarantine", near(QUARANTINED) | DEEP, _quarantine),
)
