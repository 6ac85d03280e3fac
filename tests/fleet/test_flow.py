"""Fleets on a real server: many goals, a race, a budget."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID

import pytest

from buildloop.fleet.request import FleetRequest
from buildloop.fleet.result import FleetResult
from tests.support.repos import GREEN, git, make_repo
from tests.support.scripts import WRITE_FIX, write_script, wrong

pytestmark = pytest.mark.server
BUG = GREEN | {"calc.py": "def add(a, b):\n    return a - b\n"}


@pytest.fixture
def race_off(prefect_server, tmp_path, monkeypatch):
    monkeypatch.setenv("BUILDLOOP_STATE_DIR", str(tmp_path / "state"))

    def run(**fields: object) -> tuple[FleetResult, str]:
        from flows.fleet import fleet

        defaults = {"test": ["python -m unittest -q"], "agent": "scripted", "retry_delay": 0}
        given = {"defaults": {**defaults, **fields.pop("defaults", {})}, **fields}
        state = fleet(FleetRequest.model_validate(given), return_state=True)
        return state.result(raise_on_failure=False), state.name

    return run


def goal(tmp_path: Path, name: str, *rules: dict, **changes: object) -> dict:
    repo = tmp_path / name
    if not repo.exists():
        make_repo(repo, BUG)
    script = write_script(tmp_path / f"{name}.json", *rules)
    return {"goal": f"goal of {name}", "repo": str(repo), "agent_script": str(script), **changes}


def test_goals_over_several_repositories_end_one_by_one(race_off, tmp_path):
    """One that fails, and one that cannot even start, do not touch the others."""
    goals = [goal(tmp_path, f"r{n}", {"do": [WRITE_FIX]}) for n in range(2)]
    goals.append(goal(tmp_path, "hopeless", {"do": [wrong(1)]}, max_iterations=1))
    goals.append({**goal(tmp_path, "gone", {"do": []}), "repo": str(tmp_path / "not-there")})
    result, state = race_off(goals=goals, parallel=2, fleet_id="many")
    outcomes = {entry.run_id: entry.outcome for entry in result.entries}
    assert outcomes == {
        "many-1": "complete",
        "many-2": "complete",
        "many-3": "max_iterations",
        "many-4": "refused",
    }
    assert (state, result.in_words) == ("Incomplete", "2 of 4 goals complete")
    assert git(tmp_path / "r0", "branch", "--list", "buildloop/*").split() == ["buildloop/many-1"]


def test_the_first_green_way_wins_and_the_others_are_stopped(race_off, tmp_path):
    quick = goal(tmp_path, "race", {"do": [WRITE_FIX]})
    endless = write_script(tmp_path / "endless.json", {"do": [{"run": ["sleep", "600"]}]})
    result, state = race_off(
        goals=[quick], best_of=[{"agent_script": str(endless)}, {}], fleet_id="race", parallel=1
    )
    assert (state, result.winner) == ("Completed", "race-2")
    assert {entry.run_id: entry.outcome for entry in result.entries} == {
        "race-1": "cancelled",
        "race-2": "complete",
    }


def test_a_way_that_cheats_does_not_win(race_off, tmp_path):
    """It is green at once, by deleting the test; the honest one needs two calls and wins."""
    honest = goal(tmp_path, "cheated", {"when": {"call": 1}, "do": [wrong(1)]}, {"do": [WRITE_FIX]})
    cheat = write_script(
        tmp_path / "cheat.json", {"do": [{"write": "test_calc.py", "text": "import unittest\n"}]}
    )
    result, state = race_off(
        goals=[honest], best_of=[{"agent_script": str(cheat), "max_iterations": 2}, {}], fleet_id="cheated"
    )
    assert (state, result.winner) == ("Completed", "cheated-2")
    assert result.entries[0].outcome in ("max_iterations", "stuck", "cancelled")


def test_a_total_budget_holds_for_runs_that_work_at_once(race_off, tmp_path):
    """Each would go on for ever at 0.2 a call; three at a time share 1 dollar."""
    rules = [{"when": {"call": n}, "do": [wrong(n)], "usage": {"cost_usd": 0.2}} for n in range(1, 9)]
    goals = [goal(tmp_path, f"shared{n}", *rules) for n in range(4)]
    result, _ = race_off(
        goals=goals, parallel=3, budget_usd=1.0, fleet_id="shared", defaults={"max_iterations": 8}
    )
    assert 0 < result.cost_usd <= 1.0
    assert not [entry for entry in result.entries if entry.complete]


def test_a_total_budget_is_kept(race_off, tmp_path):
    """Every call costs half of it: two goals can be paid, the third is not started."""
    rule = {"do": [WRITE_FIX], "usage": {"cost_usd": 0.5}}
    goals = [goal(tmp_path, f"paid{n}", rule) for n in range(3)]
    result, _ = race_off(
        goals=goals, parallel=1, budget_usd=1.0, fleet_id="paid", defaults={"budget_usd": 0.5}
    )
    assert [entry.outcome for entry in result.entries] == ["complete", "complete", "no_budget_left"]
    assert result.cost_usd == 1.0


def test_what_a_run_spent_before_it_crashed_is_spent(race_off, tmp_path, monkeypatch):
    """The first is paid 0.6 for its call and crashes with the gate; 0.4 buy no second call like that."""
    from flows import steps

    paid = {"do": [WRITE_FIX], "usage": {"cost_usd": 0.6}}
    goals = [goal(tmp_path, f"crash{n}", paid) for n in range(2)]
    gate, crashed = steps.run_gate, []

    def crash_once(state, *arguments, **more):
        if more["number"] == 1 and not crashed:
            crashed.append(state.request.run_id)
            raise MemoryError("no memory left")
        return gate(state, *arguments, **more)

    monkeypatch.setattr(steps, "run_gate", crash_once)
    result, _ = race_off(
        goals=goals, parallel=1, budget_usd=1.0, fleet_id="crash", defaults={"budget_usd": 0.7}
    )
    assert result.entries[0].outcome == "crashed"
    share = json.loads((tmp_path / "state/runs/crash-2/request.json").read_text())["budget_usd"]
    assert abs(share - 0.4) < 1e-9


def test_one_artifact_tells_of_all_goals(race_off, tmp_path):
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

    race_off(goals=[goal(tmp_path, "one", {"do": [WRITE_FIX]})], fleet_id="told")
    with get_client(sync_client=True) as client:
        mine = ArtifactFilter(key=ArtifactFilterKey(any_=["buildloop-told-fleet"]))
        (found,) = client.read_artifacts(artifact_filter=mine)
    assert "1 of 1 goals complete" in found.data


def test_a_run_that_crashes_every_time_is_not_started_for_ever(race_off, tmp_path, monkeypatch):
    monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__RUN_COUNT", "21")
    result, _ = race_off(goals=[goal(tmp_path, "crashing", {"do": [WRITE_FIX]})], fleet_id="crashing")
    (entry,) = result.entries
    assert (entry.complete, entry.iterations) == (False, 0)


def test_a_fleet_that_is_started_again_repeats_nothing(race_off, tmp_path):
    again = goal(tmp_path, "again", {"do": [WRITE_FIX]})
    first, _ = race_off(goals=[again], fleet_id="again")
    second, state = race_off(goals=[again], fleet_id="again")
    assert state == "Completed"
    assert second.entries[0].iterations == first.entries[0].iterations == 1
    played = json.loads((tmp_path / "state/runs/again-1/scripted-agent.json").read_text())
    assert sum(played.values()) == 1


@pytest.fixture
def deployment(prefect_server) -> str:
    """One whose flow runs nobody takes up."""
    from prefect.client.orchestration import get_client

    from flows.build_loop import build_loop

    with get_client(sync_client=True) as client:
        flow = client.create_flow(build_loop)
        client.create_deployment(flow, "fleet", entrypoint="flows.build_loop:build_loop")
    return "build-loop/fleet"


def test_started_again_a_fleet_on_workers_tries_what_came_to_nothing_and_nothing_else(
    race_off, deployment, tmp_path, monkeypatch
):
    """The worker of the second goal dies; the next start has one more flow run for that goal alone."""
    from prefect.client.orchestration import get_client
    from prefect.states import Completed, Crashed

    from tasks import launch

    monkeypatch.setattr(launch, "POLL_SECONDS", 0.02)
    goals = [goal(tmp_path, name, {"do": [WRITE_FIX]}) for name in ("lucky", "unlucky")]
    made: list[UUID] = []
    ends = [Completed(), Crashed(), Completed()]
    wait = launch.wait

    def end_and_wait(started: UUID, *arguments: object) -> launch.Ended:
        """A worker takes it up as soon as somebody waits for it."""
        if started not in made:
            made.append(started)
            with get_client(sync_client=True) as client:
                client.set_flow_run_state(started, ends[len(made) - 1], force=True)
        return wait(started, *arguments)

    monkeypatch.setattr(launch, "wait", end_and_wait)
    told = [race_off(goals=goals, deployment=deployment, fleet_id="f", parallel=1) for _ in range(3)]
    assert [[entry.outcome for entry in result.entries] for result, _ in told] == [
        ["complete", "crashed"],
        ["complete", "complete"],
        ["complete", "complete"],
    ]
    assert len(made) == 3


def test_a_way_that_waits_for_a_worker_is_cancelled_when_another_has_won(
    deployment, request_for, repo, monkeypatch
):
    """Nobody would ever take it up here; without that the fleet would wait for ever."""
    from tasks import launch

    monkeypatch.setattr(launch, "POLL_SECONDS", 0.02)
    asked = request_for(repo, run_id="late")
    started = launch.start(deployment, asked, "buildloop/late")
    won: list[str | None] = [None, "another way"]
    ended = launch.wait(started, asked, lambda: won.pop(0) if len(won) > 1 else won[0])
    assert (ended.state_type, ended.result) == ("CANCELLED", None)
