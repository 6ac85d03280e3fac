"""What an iteration of the real flow does on a real server, early and late in a run: git processes, requests, calls."""

from __future__ import annotations

import pytest

from benchmarks.bench.scripted import make_task
from tests.performance.counting import tallied

ITERATIONS = 10
EARLY, LATE = (3, 4), (8, 9)


@pytest.mark.server
def test_an_iteration_does_no_more_than_it_did_and_the_last_no_more_than_the_first(
    build, request_for, tmp_path, monkeypatch, guard
):
    from flows.agent_call import call_agent

    task = make_task(tmp_path / "task", ITERATIONS)
    request = request_for(
        task.repo,
        test=(str(task.gate),),
        agent_command=str(task.agent),
        max_iterations=ITERATIONS,
        context_window=0,
    )
    with tallied(call_agent.__code__, monkeypatch) as tally:
        result = build(request)

    assert (result.reason, result.iterations) == ("complete", ITERATIONS)
    assert sum(call.who == "agent" for call in task.calls) == ITERATIONS
    assert tally.iteration == ITERATIONS
    guard("iteration: git processes", tally.mean(tally.git, *EARLY))
    assert tally.requests[0], "requests are not counted any more"
    guard("iteration: requests to the Prefect API that it waits for", tally.mean(tally.requests, *EARLY))
    guard("iteration: own calls", tally.mean(tally.own_calls, *EARLY))
    for name, counted in (("git processes", tally.git), ("requests", tally.requests)):
        assert tally.mean(counted, *LATE) <= tally.mean(counted, *EARLY), f"{name} grow with the run"
    late, early = tally.mean(tally.own_calls, *LATE), tally.mean(tally.own_calls, *EARLY)
    guard("iteration: own calls later in the run, in percent", 100 * late / early)
