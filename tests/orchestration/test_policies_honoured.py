"""The options of the tasks are generated from the diagnosis, and Prefect honours them: seen through its API."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import pytest

from buildloop.diagnosis.model import FailureMode
from buildloop.events import read_events
from buildloop.recovery.plain import PLAIN
from buildloop.recovery.strategies import strategy_for
from buildloop.request import BuildRequest
from tests.support.repos import make_repo
from tests.support.scripts import write_script
from tests.support.waiting import eventually

RED = "echo 'FAIL: test_x (m.T.test_x)'; exit 1"
RERUNS = 3
AGENT_RETRIES = 5


@dataclass(frozen=True)
class Tried:
    """One task run: how often it may be run again, how often it was run, with which waits."""

    retries: int
    runs: int
    delays: list[float]
    jitter: float


@pytest.fixture(scope="module")
def forced(prefect_server, tmp_path_factory):
    """One iteration that stays red under a forced diagnosis; its task runs by step."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import TaskRunFilter, TaskRunFilterFlowRunId

    from flows.build_loop import build_loop

    def tasks_of(flow_run_id: object) -> dict[str, Tried] | None:
        wanted = TaskRunFilter(flow_run_id=TaskRunFilterFlowRunId(any_=[flow_run_id]))
        with get_client(sync_client=True) as client:
            runs = client.read_task_runs(task_run_filter=wanted, limit=200)
        if not any(run.name.startswith("finish:") and run.state.is_final() for run in runs):
            return None
        if not all(run.state.is_final() for run in runs):
            return None
        return {_step(run.name): _tried(run) for run in runs}

    def run(mode: str, *rules: dict) -> tuple[dict[str, Tried], list[dict]]:
        place = tmp_path_factory.mktemp("forced")
        repo = make_repo(place / "repo", {"app.txt": "x\n", "requirements.txt": ""})
        rules = rules or ({"do": [{"write": "app.txt", "text": "y\n"}]},)
        request = BuildRequest(
            goal="make it green",
            repo=str(repo),
            test=(RED,),
            agent="scripted",
            agent_script=str(write_script(place / "agent.json", *rules)),
            state_dir=str(place / "state"),
            run_id=place.name,
            retry_delay=0,
            max_iterations=1,
            failure_mode=mode,
        )
        state = build_loop(request, return_state=True)
        tasks = eventually(lambda: tasks_of(state.state_details.flow_run_id), 60)
        return tasks, list(read_events(request.run_dir / "events.jsonl"))

    return run


def _step(name: str) -> str:
    """Without the session: a forced restart comes before the first call of the agent."""
    return re.sub(r" s\d+", "", name.split(":")[0])


def _tried(run: object) -> Tried:
    policy = run.empirical_policy
    delays = policy.retry_delay if isinstance(policy.retry_delay, list) else [policy.retry_delay or 0]
    return Tried(policy.retries or 0, run.run_count, delays, policy.retry_jitter_factor or 0)


@pytest.fixture(scope="module")
def all_modes(forced):
    return {mode: forced(mode) for mode in FailureMode}


@pytest.mark.parametrize("mode", FailureMode)
def test_a_red_gate_is_run_again_only_where_the_diagnosis_says_flaky(all_modes, mode):
    """All reruns are asked for and made, each after a jittered wait; no other mode repeats a verdict."""
    tasks, _ = all_modes[mode]
    first = tasks["gate i1"]
    assert (first.retries, first.runs) == (0, 1)
    reruns = {name: tried for name, tried in tasks.items() if name.startswith("rerun_tests")}
    if mode is not FailureMode.TEST_FLAKINESS:
        assert not reruns
        return
    assert {(tried.retries, tried.runs) for tried in reruns.values()} == {(RERUNS, RERUNS + 1)}
    assert all(tried.jitter > 0 and len(tried.delays) == RERUNS for tried in reruns.values())


@pytest.mark.parametrize("mode", FailureMode)
def test_an_agent_that_answered_is_not_asked_again_whatever_the_mode(all_modes, mode):
    tasks, _ = all_modes[mode]
    retries = 0 if mode is FailureMode.INFINITE_LOOP else AGENT_RETRIES
    assert (tasks["iterate i1"].retries, tasks["iterate i1"].runs) == (retries, 1)


@pytest.mark.parametrize("mode", FailureMode)
def test_only_an_install_may_be_tried_again(all_modes, mode):
    tasks, _ = all_modes[mode]
    recoveries = {tried.retries for name, tried in tasks.items() if name.startswith("recover ")}
    plain = strategy_for(mode).action in PLAIN
    assert recoveries == (set() if plain else {3 if mode is FailureMode.DEPENDENCY_ISSUE else 0})


@pytest.mark.parametrize("mode", FailureMode)
def test_a_forced_mode_is_said_and_its_strategy_applied(all_modes, mode):
    _, events = all_modes[mode]
    assert {event["mode"] for event in events if event["type"] == "loop.failure_mode_forced"} == {mode}
    actions = {event["action"] for event in events if event["type"] == "loop.recovery_applied"}
    assert len(actions) == 1
    assert {event["mode"] for event in events if event["type"] == "loop.recovery_applied"} == {mode}


def test_an_agent_that_is_unavailable_is_asked_as_often_as_the_policy_says(forced):
    tasks, events = forced("code_error", {"outcome": "transient", "error": "overloaded"})
    asked = tasks["iterate i1"]
    assert (asked.retries, asked.runs) == (AGENT_RETRIES, AGENT_RETRIES + 1)
    assert [event["type"] for event in events].count("loop.agent_waiting") == AGENT_RETRIES
    assert "agent_unavailable" in json.dumps(events[-1])
