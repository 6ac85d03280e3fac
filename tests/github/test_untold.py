"""A pull request that got lost after the work was done is made up for, and nothing is done twice."""

from __future__ import annotations

import json

import pytest

from buildloop.cli.resume import resume_run
from buildloop.report.facts import RunFacts
from buildloop.result import StopReason
from buildloop.rundir import RunDir
from tests.support.github_server import REPO

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("environment")]
PULLS = rf"/repos/{REPO}/pulls"


@pytest.fixture
def ended(done: RunFacts, remote, tmp_path):
    """The run as it is on disk when the process was killed right after its result was written."""

    def make(**changes: object) -> RunDir:
        asked = {"repo": str(remote), "state_dir": str(tmp_path / "state"), **changes}
        request = done.request.model_copy(update=asked)
        run = RunDir(request.run_dir)
        run.save("request.json", request)
        run.save("workspace.json", done.workspace)
        for one in done.iterations:
            run.save_iteration(one)
        run.save("result.json", done.result.model_copy(update={"run_dir": str(run.path)}))
        return run

    return make


def resume(run: RunDir, *, as_json: bool = False) -> int:
    return resume_run(run.run_id, {}, run.path.parents[1], verbose=False, as_json=as_json)


def test_resume_opens_the_pull_request_that_is_missing_and_only_once(hub, ended, capsys):
    run = ended()
    hub.trouble("GET", rf"/repos/{REPO}", 403, headers={"X-RateLimit-Remaining": "0"})
    assert resume(run) == 0
    said = capsys.readouterr().out
    assert "no pull request: GitHub's rate limit" in said
    assert f"buildloop resume {run.run_id}" in said
    assert "rate limit" in (run.path / "report.html").read_text()
    assert resume(run) == 0
    (pull,) = hub.pulls
    assert pull["html_url"] in capsys.readouterr().out
    assert pull["html_url"] in (run.path / "report.html").read_text()
    assert resume(run) == 0
    assert hub.said("POST", PULLS) == 1
    assert "is complete already" in capsys.readouterr().out


def test_what_a_person_accepted_is_published_too(hub, ended, capsys):
    run = ended()
    run.save("result.json", run.result().model_copy(update={"reason": StopReason.ACCEPTED}))
    assert resume(run, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["reason"] == "accepted"
    assert len(hub.pulls) == 1


@pytest.mark.parametrize("changes", [{"dry_run": True}, {"issue": None}])
def test_what_was_to_be_told_to_nobody_is_not(hub, ended, changes):
    assert resume(ended(**changes)) == 0
    assert hub.asked == []
