"""`--issue` from the front door: the real command, the real flow, a GitHub of our own."""

from __future__ import annotations

import json

import pytest

import tasks.github
from buildloop.cli.execute import _tell_github
from buildloop.cli.output import console
from buildloop.cli.resume import resume_run
from buildloop.errors import GithubError
from buildloop.github.comment import run_mark
from buildloop.github.repository import SECRET_BLOCK
from buildloop.request import BuildRequest
from buildloop.result import BuildResult
from buildloop.rundir import RunDir, runs_in
from tests.support.github_server import REPO, TOKEN
from tests.support.repos import git
from tests.support.scripts import WRITE_FIX, write_script, wrong

pytestmark = pytest.mark.server


@pytest.fixture
def build(prefect_server):
    """The flow in this process; whatever it returns or raises comes out."""

    def run(request: BuildRequest) -> BuildResult:
        from flows.build_loop import build_loop

        outcome = build_loop(request, return_state=True).result(raise_on_failure=False)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return run


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


def everything(run: RunDir) -> str:
    return "".join(path.read_text(errors="replace") for path in run.path.rglob("*") if path.is_file())


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
    assert TOKEN not in everything(run)


def test_an_issue_that_is_not_there_ends_before_anything_is_made(run_issue, hub):
    ran, run = run_issue({"do": [WRITE_FIX]})
    assert ran.returncode == 2
    assert "issue #12 in ada/shop" in ran.stderr
    assert run is None


@pytest.fixture
def request_of(hub, remote, tmp_path, monkeypatch):
    """What a deployment gets: an issue, and no goal."""
    hub.add_issue(12, "add() subtracts", "It must add.")
    monkeypatch.setenv("GITHUB_API_URL", hub.url)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.delenv("GH_TOKEN", raising=False)

    def make(**changes: object) -> BuildRequest:
        fields = {
            "repo": str(remote),
            "issue": 12,
            "test": "python -m unittest -q",
            "agent": "scripted",
            "agent_script": str(write_script(tmp_path / "agent.json", {"do": [WRITE_FIX]})),
            "state_dir": str(tmp_path / "state"),
            "run_id": "from-a-deployment",
        }
        return BuildRequest.model_validate({**fields, **changes})

    return make


def test_a_failed_run_comments_once_and_its_resume_changes_that_comment(
    build, hub, request_of, tmp_path, capsys
):
    rules = ({"when": {"call": 1}, "do": [wrong(1)]}, {"do": [wrong(2)]})
    script = str(write_script(tmp_path / "failing.json", *rules))
    asked = request_of(agent_script=script, max_iterations=1, extension_size=0)
    assert build(asked).exit_code == 1
    run = RunDir(asked.run_dir)
    (comment,) = hub.comments[12]
    assert comment["body"].startswith(run_mark(run.run_id))
    _tell_github(console(), run)
    assert comment["html_url"] in capsys.readouterr().out
    assert "What Failed" in (run.path / "context-error-gate.md").read_text()
    (told,) = events(run, "error.context_generated")
    assert (told["stage"], told["iteration"], told["category"]) == ("gate", 1, "ASSERTION_FAILURE")
    resumed = run.request().model_copy(update={"max_iterations": 2})
    run.save("request.json", resumed)
    assert build(resumed).exit_code == 1
    assert len(hub.comments[12]) == 1
    assert "iteration 2" in hub.comments[12][0]["body"]
    assert run.request().goal == "add() subtracts\n\nIt must add."


def test_from_a_deployment_with_the_token_of_the_secret_block(build, hub, request_of, monkeypatch):
    """What GitHub does not take at the end does not fail the run; a resume makes up for it with the same token."""
    from prefect.blocks.system import Secret

    monkeypatch.delenv("GITHUB_TOKEN")
    hub.trouble("GET", rf"/repos/{REPO}", 403, headers={"X-RateLimit-Remaining": "0"})
    Secret(value=TOKEN).save(SECRET_BLOCK, overwrite=True)
    run = RunDir(request_of().run_dir)
    try:
        assert build(request_of()).reason == "complete"
        assert hub.pulls == []
        (told,) = events(run, "loop.degraded")
        assert told["what"] == "github"
        assert "rate limit" in told["why"]
        assert resume_run(run.run_id, {}, run.path.parents[1], verbose=False, as_json=False) == 0
    finally:
        Secret.delete(SECRET_BLOCK)
    assert len(hub.pulls) == 1
    assert run.request().goal == "add() subtracts\n\nIt must add."
    assert TOKEN not in everything(run)


def test_the_token_of_the_block_is_not_for_whatever_host_a_remote_names(repo, request_of, monkeypatch):
    monkeypatch.delenv("GITHUB_TOKEN")
    monkeypatch.setattr(tasks.github, "block_token", lambda: TOKEN)
    assert tasks.github._access(request_of()).token == TOKEN
    monkeypatch.delenv("GITHUB_API_URL")
    git(repo, "remote", "set-url", "origin", "https://gitlab.example/ada/shop.git")
    assert tasks.github._access(request_of()).token == ""


def test_a_dry_run_says_what_it_would_send_and_sends_nothing(build, hub, request_of, capsys):
    assert build(request_of(dry_run=True)).reason == "complete"
    assert {method for method, _ in hub.asked} == {"GET"}
    _tell_github(console(), RunDir(request_of().run_dir))
    printed = capsys.readouterr().out
    assert f"# Pull request in {REPO}" in printed
    assert "Closes #12." in printed


def test_without_a_token_nothing_is_begun(build, request_of, monkeypatch):
    """Hours of work must not end at a door that was shut from the start."""
    monkeypatch.delenv("GITHUB_TOKEN")
    with pytest.raises(GithubError, match=r"no token: set GITHUB_TOKEN"):
        build(request_of())
    assert RunDir(request_of().run_dir).workspace() is None
