"""Goals from GitHub issues with a label: one run each, known by the issue's number."""

from __future__ import annotations

import pytest

from buildloop.errors import BuildloopError, InputError
from buildloop.fleet.request import FleetRequest, plan_of
from tests.support.github_server import REPO, TOKEN, github_server
from tests.support.scripts import WRITE_FIX, write_script


@pytest.fixture
def hub(monkeypatch):
    with github_server() as served:
        served.add_issue(9, "Totals lack VAT", "x")
        served.add_issue(7, "Login fails", "It says 401.")
        served.add_issue(8, "Not for us", "")
        served.add_issue(10, "A pull request", "")
        served.issues[10]["pull_request"] = {"url": "x"}
        for number, issue in served.issues.items():
            issue["labels"] = ["later" if number == 8 else "buildloop"]
        monkeypatch.setenv("GITHUB_API_URL", served.url)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        yield served


def asked(checkout, **changes: object) -> FleetRequest:
    fields = {"label": "buildloop", "repo": str(checkout), "github_repo": REPO}
    return FleetRequest.model_validate({**fields, **changes})


def test_every_open_issue_with_the_label_is_a_goal(hub, repo):
    (repo / "buildloop.toml").write_text(
        'test = "make test"\nagent_command = "from the checkout"\nmax_turns = 3\n'
    )
    goals = ({"goal": "g", "repo": "/r", "test": "t"},)
    plan = plan_of(asked(repo, goals=goals, defaults={"agent_command": "a"}), "f")
    found = [(each.run_id, each.issue, each.repo, each.agent_command) for each in plan.requests]
    assert found == [
        ("f-1", None, "/r", "a"),
        ("f-issue-7", 7, str(repo), "a"),
        ("f-issue-9", 9, str(repo), "a"),
    ]
    assert [(each.test, each.max_turns) for each in plan.requests[1:]] == [(("make test",), 3)] * 2
    hub.issues[7]["state"] = "closed"
    again = plan_of(asked(repo), "f")
    assert [each.run_id for each in again.requests] == ["f-issue-9"]


def test_the_file_may_name_the_issues_and_the_command_line_comes_first(hub, repo, tmp_path):
    path = tmp_path / "goals.toml"
    path.write_text(
        f'label = "later"\nrepo = "{repo}"\ngithub_repo = "{REPO}"\n[defaults]\ntest = "t"\nagent_command = "a"'
    )
    assert [each.issue for each in plan_of(FleetRequest(file=str(path)), "f").requests] == [8]
    direct = FleetRequest(file=str(path), label="buildloop")
    assert [each.issue for each in plan_of(direct, "f").requests] == [7, 9]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"label": "nobody-has-it"}, "no open issue has the label"), ({"repo": None}, "name it with --repo")],
)
def test_what_is_missing_is_said(hub, repo, changes, sentence):
    with pytest.raises(InputError, match=sentence):
        plan_of(asked(repo, **changes), "f")


def test_a_github_that_refuses_is_one_sentence(hub, repo, monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "wrong")
    with pytest.raises(BuildloopError, match="refuses the token"):
        plan_of(asked(repo), "f")


@pytest.mark.server
def test_issues_are_worked_on_from_the_command_line(buildloop, hub, repo, tmp_path):
    script = write_script(tmp_path / "agent.json", {"do": [WRITE_FIX]})
    defaults = tmp_path / "goals.toml"
    defaults.write_text(
        f'[defaults]\ntest = "python -m unittest -q"\nagent = "scripted"\nagent_script = "{script}"\ndry_run = true\n'
    )
    common = ("--state-dir", str(tmp_path / "state"), "--repo", str(repo), "--github-repo", REPO)
    known = {"GITHUB_API_URL": hub.url, "GITHUB_TOKEN": TOKEN}
    ran = buildloop("fleet", str(defaults), "--label", "buildloop", "--id", "hub", *common, env=known)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 of 2 goals complete" in ran.stdout
    goal = (tmp_path / "state/runs/hub-issue-7/iterations/1-1/prompt.md").read_text()
    assert "Login fails" in goal
