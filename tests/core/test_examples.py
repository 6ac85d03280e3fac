"""Every file in examples/ is one that buildloop takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildloop.agents.scripted import load_script
from buildloop.config import gather_settings, make_request
from buildloop.fleet.request import FleetRequest, plan_of
from buildloop.request import BuildRequest
from buildloop.supervise.source import DirectorySource

EXAMPLES = Path(__file__).parents[2] / "examples"
SETTINGS = sorted(path.parent.name for path in EXAMPLES.glob("*/buildloop.toml"))


@pytest.mark.parametrize("project", SETTINGS)
def test_the_settings_of_a_project(project):
    flags = {"goal": "make the tests pass", "repo": "/repos/shop"}
    asked = make_request(gather_settings(flags, {}, EXAMPLES / project))
    assert asked.agents
    assert len(asked.test) == 2


def test_a_fleet():
    plan = plan_of(FleetRequest(file=str(EXAMPLES / "fleet.toml")), "f")
    assert [(each.repo, each.budget_usd) for each in plan.requests] == [
        ("/repos/shop", 4.0),
        ("/repos/storefront", 4.0),
    ]
    assert plan.budget_usd == 20.0


def test_a_race():
    plan = plan_of(FleetRequest(file=str(EXAMPLES / "race.toml")), "f")
    assert plan.race
    assert [each.agent for each in plan.requests] == ["claude", "codex"]


def test_a_request_for_the_supervisor():
    items = {item.id: item for item in DirectorySource(EXAMPLES, {}).items()}
    assert items["request.toml"].problem == ""
    assert BuildRequest.model_validate(items["request.toml"].fields).agent == "claude"


def test_a_scripted_agent():
    first, second = load_script(EXAMPLES / "scripted-agent.toml").rule
    assert (first.outcome, first.reset_in) == ("transient", 1)
    assert second.done


def test_each_is_named_in_the_list_of_them():
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    there = [path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.toml")]
    assert [name for name in there if f"`{name}`" not in listed] == []
