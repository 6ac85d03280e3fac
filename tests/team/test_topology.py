"""A team's topology on loopback: PostgreSQL, a server, two workers, the deployments as they are shipped."""

from __future__ import annotations

import json
import urllib.error
from pathlib import Path

import pytest

from tasks.options import short_id
from tests.support.repos import git
from tests.support.scripts import WRITE_FIX, wrong
from tests.support.stack import Stack
from tests.support.waiting import eventually
from tests.team.conftest import sample_request


@pytest.fixture(scope="module")
def orphaned(stack: Stack) -> tuple[str, dict]:
    """A run whose worker dies in the second agent call, with everything it started."""
    marker = stack.folder / "second-call"
    once = f"test -e {marker} || {{ touch {marker}; sleep 600; }}"
    request = sample_request(
        stack,
        "orphaned",
        {"when": {"call": 1}, "do": [wrong(1)]},
        {"do": [{"run": ["sh", "-c", once]}, WRITE_FIX]},
    )
    flow_run = stack.start("build-loop/on-demand", {"request": request})
    eventually(marker.exists, 300)
    eventually(lambda: stack.run(flow_run)["state_type"] == "RUNNING", 300)
    events = stack.ask(
        "/events/filter", {"filter": {"event": {"name": ["prefect.worker.submitted-flow-run"]}}}
    )
    mine = [each for each in events["events"] if flow_run in json.dumps(each)]
    stack.kill_worker(mine[0]["resource"]["prefect.resource.name"])
    return flow_run, request


@pytest.fixture(scope="module")
def told(stack: Stack, orphaned) -> str:
    """Another run that asks; it is answered in the terminal."""
    rules = ({"when": {"prompt": "turn the sign"}, "do": [WRITE_FIX]}, {"do": [wrong(1)]})
    request = sample_request(stack, "told", *rules, max_iterations=1, extension_size=0, human=True)
    return stack.start("build-loop/on-demand", {"request": request})


@pytest.fixture(scope="module")
def night(stack: Stack, orphaned) -> str:
    """The nightly fleet, with one goal for whichever worker is free."""
    goal = sample_request(stack, "night", {"do": [WRITE_FIX]})
    request = {"goals": [goal], "deployment": "build-loop/on-demand", "fleet_id": "night"}
    return stack.start("fleet/nightly", {"request": request})


@pytest.fixture(scope="module")
def inbox(stack: Stack, orphaned) -> tuple[Path, str]:
    """A folder with one request, and the supervisor's first look at it."""
    folder = stack.folder / "inbox"
    folder.mkdir()
    (folder / "sign.json").write_text(json.dumps(sample_request(stack, "sign", {"do": [WRITE_FIX]})))
    return folder, stack.start("supervise/poll", {"request": {"folder": str(folder)}})


@pytest.fixture(scope="module")
def endless(stack: Stack, orphaned) -> str:
    request = sample_request(stack, "endless", {"do": [{"run": ["sleep", "600"]}]})
    return stack.start("build-loop/on-demand", {"request": request})


@pytest.fixture(scope="module")
def watched(stack: Stack, orphaned, asking, told, night, inbox, endless) -> dict[str, tuple[int, str]]:
    """Two pipelines at once, one that can succeed and one that cannot: what each printed, and its exit code."""
    requests = {
        "green": sample_request(stack, "green", {"do": [WRITE_FIX]}),
        "impossible": sample_request(stack, "impossible", {"do": [wrong(1)]}, max_iterations=1),
    }
    watching = {name: stack.watch("build-loop/ci", request) for name, request in requests.items()}
    said = {name: command.communicate(timeout=600)[0] for name, command in watching.items()}
    return {name: (command.returncode, said[name]) for name, command in watching.items()}


def test_a_green_run_ends_the_watching_command_with_0(stack, watched):
    code, said = watched["green"]
    assert code == 0, said
    assert "Flow run finished successfully in 'Completed'" in said
    assert "complete after 1 iteration. A fresh run of the whole gate on commit" in said
    assert f"Report: {stack.ui}/artifacts/artifact/" in said


def test_an_impossible_goal_ends_it_with_1_and_says_why(watched):
    code, said = watched["impossible"]
    assert code == 1, said
    assert "Flow run finished in state 'MaxIterations'" in said
    assert "All 1 iterations were used; the gate is red (1 failing)" in said


def test_telling_a_suspended_run_resumes_it_with_the_answer(stack, told):
    eventually(lambda: stack.run(told)["state_name"] == "Suspended", 300)
    run = f"run-{short_id(told)}"
    ran = stack.buildloop("tell", run, "turn the sign", "--more-iterations", "2")
    assert f"{run} goes on with your answer: continue" in ran.stdout, ran.stdout + ran.stderr
    assert stack.ended(told)["state_name"] == "Completed"
    granted = json.loads((stack.state / "runs" / run / "granted.json").read_text())
    assert granted["max_iterations"] == 3


def test_a_run_on_a_worker_is_cancelled_from_the_terminal(stack, endless):
    run = f"run-{short_id(endless)}"
    eventually((stack.state / "runs" / run / "call-under-way").exists, 300)
    ran = stack.buildloop("cancel", run)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert stack.ended(endless)["state_name"] == "Cancelled"


def test_the_nightly_fleet_has_its_goals_done_by_workers(stack, night):
    ended = stack.ended(night)
    assert (ended["state_name"], ended["state"]["message"]) == ("Completed", "1 of 1 goals complete")
    of_the_goal = {"flow_runs": {"name": {"any_": ["night-1"]}}}
    (child,) = stack.ask("/flow_runs/filter", of_the_goal)
    assert child["state_name"] == "Completed"
    assert child["deployment_id"] is not None


def test_the_supervisor_on_a_worker_starts_a_request_and_sees_it_through(stack, inbox):
    folder, first = inbox
    assert stack.ended(first)["state"]["message"].startswith("1 new, 1 started")
    supervised = {"flow_runs": {"tags": {"all_": ["supervised"]}}}
    (started,) = stack.ask("/flow_runs/filter", supervised)
    assert stack.ended(started["id"])["state_name"] == "Completed"
    again = stack.start("supervise/poll", {"request": {"folder": str(folder)}})
    assert stack.ended(again)["state"]["message"].startswith("0 new, 0 started, 1 done")
    assert [path.stem for path in (folder / "sign.json.answers").iterdir()] == ["end"]
    assert len(stack.ask("/flow_runs/filter", supervised)) == 1


def test_bad_parameters_are_refused_before_a_run_is_made(stack):
    with pytest.raises(urllib.error.HTTPError, match="409"):
        stack.start("build-loop/ci", {"request": {"goal": "no repository, no gate"}})


def test_another_worker_finishes_what_a_killed_one_began(stack, orphaned):
    """The heartbeat stops, the run is marked as crashed, scheduled again, and replayed: no iteration is made twice."""
    flow_run, request = orphaned
    ended = eventually(
        lambda: run if (run := stack.run(flow_run))["state_name"] == "Completed" else None, 400
    )
    assert ended["run_count"] == 2
    names = [state["name"] for state in stack.ask(f"/flow_run_states/?flow_run_id={flow_run}")]
    assert "Crashed" in names
    assert "AwaitingRetry" in names
    run_dir = stack.state / "runs" / f"run-{short_id(flow_run)}"
    result = json.loads((run_dir / "result.json").read_text())
    assert (result["reason"], result["iterations"]) == ("complete", 2)
    commits = git(Path(request["repo"]), "log", "--format=%s", f"main..{result['branch']}").splitlines()
    assert commits == ["buildloop: iteration 2", "buildloop: iteration 1"]


def test_events_of_a_run_reach_prefect_with_a_resource_of_their_own(stack, orphaned):
    flow_run, _ = orphaned
    resource = f"buildloop.run.run-{short_id(flow_run)}"
    wanted = {"filter": {"any_resource": {"id": [resource]}}, "limit": 50}

    def kinds() -> set[str] | None:
        found = {event["event"] for event in stack.ask("/events/filter", wanted)["events"]}
        return found if "loop.completed" in found else None

    assert {
        "loop.started",
        "loop.baseline",
        "loop.iteration_complete",
        "loop.failure_classified",
    } <= eventually(kinds, 120)
