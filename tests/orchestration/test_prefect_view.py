"""A run as Prefect's API shows it: names, tags, states, results, artifacts, retries."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from buildloop.models import GateReport
from buildloop.request import BuildRequest
from buildloop.result import StopReason
from tests.support.repos import GREEN, make_repo
from tests.support.scripts import WRITE_FIX, write_script, wrong
from tests.support.waiting import eventually

FLAKY = (
    "import pathlib, unittest\n\n\nclass Flaky(unittest.TestCase):\n    def test_service(self):\n"
    "        seen = pathlib.Path('.seen')\n        runs = len(seen.read_text()) if seen.exists() else 0\n"
    "        seen.write_text('x' * (runs + 1))\n        self.assertIn(runs, (1, 4, 5, 6, 7, 8, 9))\n"
)


@dataclass(frozen=True)
class View:
    """One flow run and its task runs by their final names."""

    flow_run: object
    tasks: dict[str, object]
    request: BuildRequest

    def task(self, name: str) -> object:
        return self.tasks[name]


@pytest.fixture(scope="module")
def look(prefect_server):
    """The flow run of a request as the API knows it, once the server has written down all its tasks."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import (
        FlowRunFilter,
        FlowRunFilterId,
        TaskRunFilter,
        TaskRunFilterFlowRunId,
    )

    def read(request: BuildRequest, flow_run_id: object) -> View:
        def tasks() -> dict[str, object] | None:
            wanted = TaskRunFilter(flow_run_id=TaskRunFilterFlowRunId(any_=[flow_run_id]))
            runs = client.read_task_runs(task_run_filter=wanted, limit=200)
            ended = [run for run in runs if run.state is not None and run.state.is_final()]
            complete = len(ended) == len(runs) and any(run.name.startswith("finish:") for run in runs)
            return {run.name: run for run in runs} if complete else None

        with get_client(sync_client=True) as client:
            by_id = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run_id]))
            (flow_run,) = client.read_flow_runs(flow_run_filter=by_id)
            return View(flow_run, eventually(tasks, 30), request)

    return read


@pytest.fixture(scope="module")
def show(look, tmp_path_factory):
    """Build with these rules and look at the flow run."""

    def run(*rules: dict, files: dict | None = None, **changes: object) -> View:
        from flows.build_loop import build_loop

        place = tmp_path_factory.mktemp("view")
        repo = make_repo(place / "repo", files or GREEN | {"calc.py": "def add(a, b):\n    return a - b\n"})
        fields = {
            "goal": "make the tests pass",
            "repo": str(repo),
            "test": ("python -m unittest -q",),
            "retry_delay": 0,
        }
        script = write_script(place / "agent.json", *rules)
        own = {
            "agent": "scripted",
            "agent_script": str(script),
            "state_dir": str(place / "state"),
            "run_id": place.name,
        }
        request = BuildRequest.model_validate({**fields, **own, **changes})
        state = build_loop(request, return_state=True)
        return look(request, state.state_details.flow_run_id)

    return run


@pytest.fixture(scope="module")
def plain(show) -> View:
    """Red baseline, one useless change, one fix."""
    return show(
        {"when": {"call": 1}, "do": [wrong(1)], "usage": {"context_tokens": 60_000}}, {"do": [WRITE_FIX]}
    )


def test_task_runs_are_named_by_what_came_of_them(plain):
    names = set(plain.tasks)
    assert {
        "gate baseline: 1 failing",
        "iterate s1 i1: 1 files",
        "gate s1 i1: 1 failing",
        "gate s1 i2: green",
        "verify s1 i2: green",
        "finish: complete",
    } <= names
    assert any(name.startswith("classify s1 i1: ") for name in names)
    assert any(name.startswith("record s1 i1") for name in names)


def test_task_runs_are_tagged(plain):
    assert set(plain.task("gate s1 i1: 1 failing").tags) == {"buildloop", "gate", "failed"}
    assert set(plain.task("gate s1 i2: green").tags) == {"buildloop", "gate", "passed"}
    assert {"buildloop", "agent"} <= set(plain.task("iterate s1 i1: 1 files").tags)


def test_a_red_gate_is_a_completed_task(plain):
    state = plain.task("gate s1 i1: 1 failing").state
    assert (state.type, state.name) == ("COMPLETED", "Completed")
    assert all(run.state.is_completed() for run in plain.tasks.values())


def test_results_are_json_files_under_the_runs_own_key(plain):
    """Any later flow run of the same run finds them, on any machine that has the folder."""
    folder = Path(plain.request.state_dir) / "results"
    kept = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    prefix = f"{plain.request.run_id}/s1/"
    gates = [path for name, path in kept.items() if name.startswith(f"{prefix}i1/gate-")]
    assert len(gates) == 1
    record = json.loads(gates[0].read_text())
    assert "json" in record["metadata"]["serializer"]["type"]
    report = GateReport.model_validate(json.loads(record["result"])["data"])
    assert report.failing_count == 1
    assert report.tree.startswith(gates[0].name.removeprefix("gate-1-"))
    assert f"{prefix}i1/iterate" in kept


def test_the_flow_run_is_named_after_the_run(plain):
    assert plain.flow_run.name == plain.request.run_id
    assert (plain.flow_run.state.type, plain.flow_run.state.name) == ("COMPLETED", "Completed")
    assert "git merge" in plain.flow_run.state.message


def test_artifacts_show_report_iterations_and_context(plain):
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId

    with get_client(sync_client=True) as client:
        mine = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[plain.flow_run.id]))
        found = {artifact.type: artifact for artifact in client.read_artifacts(artifact_filter=mine)}
    assert set(found) == {"markdown", "table", "progress"}
    assert "**complete**" in found["markdown"].data
    assert [row["gate"] for row in json.loads(found["table"].data)] == ["1 failing", "1 failing", "green"]
    assert 0 <= found["progress"].data <= 100
    assert all(plain.request.run_id.replace("_", "-") in artifact.key for artifact in found.values())


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"max_iterations": 1}, "MaxIterations"),
        ({"test": ("no-such-gate",)}, "GateCouldNotRun"),
    ],
)
def test_the_final_state_is_named_by_what_happened(show, changes, name):
    view = show({"do": [wrong(1)]}, **changes)
    assert (view.flow_run.state.type, view.flow_run.state.name) == ("FAILED", name)
    assert "Next: " in view.flow_run.state.message


def test_retries_come_from_the_strategy(show):
    """The agent may be asked again after an outage; a red gate is rerun only where flakiness was diagnosed."""
    files = GREEN | {"test_flaky.py": FLAKY, ".gitignore": ".seen\n__pycache__/\n"}
    view = show({"do": [{"write": "new.txt", "text": "x"}], "done": True}, files=files)
    retries = {name.split(":")[0]: run.empirical_policy.retries for name, run in view.tasks.items()}
    assert retries["gate baseline"] == 0
    assert retries["rerun_tests baseline"] == 3
    assert retries["iterate s1 i1"] == 5
    assert view.flow_run.state.name == "Completed"


def test_a_new_flow_run_of_the_same_run_replays_what_is_finished(show, look, tmp_path):
    """Stopped by its limit, then continued with a higher one: the first iteration is not asked for again."""
    from flows.build_loop import build_loop

    first = show({"when": {"call": 1}, "do": [wrong(1)]}, {"do": [WRITE_FIX]}, max_iterations=1)
    again = first.request.model_copy(update={"max_iterations": 5})
    state = build_loop(again, return_state=True)
    second = look(again, state.state_details.flow_run_id)
    result = state.result()
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 2)
    assert second.flow_run.id != first.flow_run.id
    replayed = [run for run in second.tasks.values() if run.state.name == "Cached"]
    assert len(replayed) >= 5
    played = json.loads(
        (Path(again.state_dir) / "runs" / str(again.run_id) / "scripted-agent.json").read_text()
    )
    assert sum(played.values()) == 2
