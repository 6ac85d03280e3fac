"""`--issue` from the front door: the real command, the real flow, a GitHub of our own."""

from __future__ import annotations

import json

import pytest

from buildloop.github.comment import run_mark
from buildloop.rundir import RunDir, runs_in
from tests.support.github_server import REPO, TOKEN
from tests.support.scripts import WRITE_FIX, write_script, wrong

pytestmark = pytest.mark.server


@pytest.fixture
def run_issue(buildloop, hub, remote, tmp_path):
    """`buildloop run --issue 12` with these rules; returns what was printed and the run."""

    def run(*rules: dict, token: str = TOKEN, more: tuple[str, ...] = ()):
        script = write_script(tmp_path / "agent.json", *rules)
        given = ("--repo", str(remote), "--test", "python -m unittest -q", "--agent-script", str(script))
        known = {"GITHUB_API_URL": hub.url, **({"GITHUB_TOKEN": token} if token else {})}
        folder = tmp_path / "state"
        ran = buildloop("run", "--issue", "12", *given, "--state-dir", str(folder), *more, env=known)
        found = runs_in(folder) if (folder / "runs").exists() else []
        return ran, found[0] if found else None

    return run


def events(run: RunDir, kind: str) -> list[dict]:
    lines = (run.path / "events.jsonl").read_text().splitlines()
    return [event for line in lines if (event := json.loads(line))["type"] == kind]


def test_an_issue_becomes_a_pull_request(run_issue, hub):
    hub.add_issue(12, "add() subtracts", "It must add.", ("ada", "see calc.py"))
    ran, run = run_issue({"do": [WRITE_FIX]})
    assert ran.returncode == 0, ran.stderr
    (pull,) = hub.pulls
    assert pull["html_url"] in ran.stdout
    assert "Closes #12." in pull["body"]
    assert run.request().goal == "add() subtracts\n\nIt must add."
    assert "see calc.py" in run.request().context
    assert [event["number"] for event in events(run, "github.pull_request")] == [pull["number"]]
    assert pull["html_url"] in (run.path / "report.html").read_text()
    kept = "".join(path.read_text(errors="replace") for path in run.path.rglob("*") if path.is_file())
    assert TOKEN not in kept


def test_a_failed_run_comments_once_and_its_resume_changes_that_comment(run_issue, buildloop, hub, tmp_path):
    hub.add_issue(12, "add() subtracts", "It must add.")
    limits = ("--max-iterations", "1", "--extension-size", "0")
    ran, run = run_issue({"when": {"call": 1}, "do": [wrong(1)]}, {"do": [wrong(2)]}, more=limits)
    assert ran.returncode == 1
    (comment,) = hub.comments[12]
    assert comment["body"].startswith(run_mark(run.run_id))
    assert comment["html_url"] in ran.stdout
    known = {"GITHUB_API_URL": hub.url, "GITHUB_TOKEN": TOKEN}
    again = buildloop(
        "resume", run.run_id, "--max-iterations", "2", "--state-dir", str(tmp_path / "state"), env=known
    )
    assert again.returncode == 1
    assert len(hub.comments[12]) == 1
    assert "iteration 2" in hub.comments[12][0]["body"]
    assert hub.said("GET", rf"/repos/{REPO}/issues/12") >= 1
    assert run.request().goal == "add() subtracts\n\nIt must add."


def test_a_comment_that_cannot_be_posted_does_not_fail_the_run(run_issue, hub):
    hub.add_issue(12, "add() subtracts", "It must add.")
    hub.trouble("GET", rf"/repos/{REPO}", 403, headers={"X-RateLimit-Remaining": "0"})
    ran, run = run_issue({"do": [WRITE_FIX]})
    assert ran.returncode == 0
    assert hub.pulls == []
    (told,) = events(run, "loop.degraded")
    assert told["what"] == "github"
    assert "rate limit" in told["why"]
    assert "rate limit" in (run.path / "report.html").read_text()


def test_a_dry_run_prints_and_sends_nothing(run_issue, hub):
    hub.add_issue(12, "add() subtracts", "It must add.")
    ran, _ = run_issue({"do": [WRITE_FIX]}, more=("--dry-run",))
    assert ran.returncode == 0
    assert f"# Pull request in {REPO}" in ran.stdout
    assert "Closes #12." in ran.stdout
    assert {method for method, _ in hub.asked} == {"GET"}


def test_an_issue_that_is_not_there_ends_before_anything_is_made(run_issue, hub, remote):
    ran, run = run_issue({"do": [WRITE_FIX]})
    assert ran.returncode == 2
    assert "issue #12 in ada/shop" in ran.stderr
    assert run is None


def test_without_a_token_nothing_is_begun(run_issue, hub):
    """Hours of work must not end at a door that was shut from the start."""
    hub.add_issue(12, "add() subtracts", "It must add.")
    ran, run = run_issue({"do": [WRITE_FIX]}, token="")
    assert ran.returncode == 2
    assert "no token" in ran.stderr
    assert "GITHUB_TOKEN" in ran.stderr
    assert run.workspace() is None


def test_from_a_deployment_the_issue_and_the_token_come_the_same_way(
    prefect_server, hub, remote, tmp_path, monkeypatch
):
    """A request with an issue and no goal; the token from the secret block."""
    from prefect.blocks.system import Secret

    from buildloop.github.repository import SECRET_BLOCK
    from buildloop.request import BuildRequest
    from flows.build_loop import build_loop

    hub.add_issue(12, "add() subtracts", "It must add.")
    monkeypatch.setenv("GITHUB_API_URL", hub.url)
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    monkeypatch.delenv("GH_TOKEN", raising=False)
    Secret(value=TOKEN).save(SECRET_BLOCK, overwrite=True)
    try:
        request = BuildRequest.model_validate(
            {
                "repo": str(remote),
                "issue": 12,
                "test": "python -m unittest -q",
                "agent": "scripted",
                "agent_script": str(write_script(tmp_path / "agent.json", {"do": [WRITE_FIX]})),
                "state_dir": str(tmp_path / "state"),
                "run_id": "from-a-deployment",
            }
        )
        result = build_loop(request)
    finally:
        Secret.delete(SECRET_BLOCK)
    assert result.reason == "complete"
    assert len(hub.pulls) == 1
    run = RunDir(request.run_dir)
    assert run.request().goal.startswith("add() subtracts")
    kept = "".join(path.read_text(errors="replace") for path in run.path.rglob("*") if path.is_file())
    assert TOKEN not in kept
