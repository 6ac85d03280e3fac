"""A run that is killed again and again ends like one that nobody disturbed. `make chaos` is the long version."""

from __future__ import annotations

import random

import pytest

from benchmarks.chaos_parts.project import GATE, Outcome, make_repo, make_script, outcome_of
from benchmarks.chaos_parts.storm import run_once
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir

SEED = 7


@pytest.fixture
def calm(build, tmp_path):
    """What an undisturbed run with so many bugs leaves."""

    def run(bugs: int) -> Outcome:
        place = tmp_path / f"calm-{bugs}"
        repo, script = make_repo(place, bugs), make_script(place, bugs)
        request = BuildRequest(
            goal="remove all bugs",
            repo=str(repo),
            test=(GATE,),
            agent="scripted",
            agent_script=str(script),
            state_dir=str(place / "state"),
            run_id="calm",
        )
        build(request)
        return outcome_of(RunDir(request.run_dir), repo)

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bugs", "targets", "shared"),
    [(5, ("process", "group", "process"), True), (2, ("server",), False)],
    ids=["process and group", "server"],
)
def test_killed_again_and_again_it_ends_like_an_undisturbed_run(
    bugs, targets, shared, calm, prefect_server, tmp_path
):
    """SIGKILL at points of the run's progress that the dice choose; resumed each time."""
    stormy, delivered = run_once(
        tmp_path / "storm",
        bugs,
        len(targets),
        random.Random(SEED),
        targets,
        api_url=prefect_server if shared else None,
    )
    assert delivered == len(targets)
    expected = calm(bugs)
    assert stormy == expected
    assert (expected.reason, expected.iterations, expected.commits) == ("complete", bugs, bugs)
    assert expected.executed_once
