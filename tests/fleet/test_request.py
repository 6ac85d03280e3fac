"""Goals from files and forms become checked requests; what is wrong is said in one sentence."""

from __future__ import annotations

import json

import pytest

from buildloop.errors import InputError
from buildloop.fleet.request import FleetRequest, plan_of

TOML = """
parallel = 7
budget_usd = 9.5

[defaults]
test = ["make test"]
agent_command = "agent"
budget_usd = 2.0

[[goal]]
goal = "first"
repo = "/r/a"

[[goal]]
goal = "second"
repo = "/r/b"
test = ["pytest -q"]
"""


def test_toml_goals_take_the_defaults_they_do_not_set(tmp_path):
    path = tmp_path / "goals.toml"
    path.write_text(TOML)
    plan = plan_of(FleetRequest(file=str(path)), "f1")
    assert [(each.goal, each.repo, each.test) for each in plan.requests] == [
        ("first", "/r/a", ("make test",)),
        ("second", "/r/b", ("pytest -q",)),
    ]
    assert [each.run_id for each in plan.requests] == ["f1-1", "f1-2"]
    assert not plan.race
    assert (plan.parallel, plan.budget_usd) == (2, 9.5)
    assert plan_of(FleetRequest(file=str(path), budget_usd=1.0, parallel=1), "f").parallel == 1


def test_a_goal_in_json_lines_may_hold_any_end_of_a_line(tmp_path):
    path = tmp_path / "goals.jsonl"
    fields = {"goal": "one\u2028two\x85three", "repo": "/r", "test": "true", "agent_command": "a"}
    path.write_text(json.dumps(fields, ensure_ascii=False) + "\r\n")
    assert plan_of(FleetRequest(file=str(path)), "f").requests[0].goal == fields["goal"]


def test_json_lines_and_goals_of_the_form_add_up(tmp_path):
    path = tmp_path / "goals.jsonl"
    path.write_text("\n".join(json.dumps({"goal": f"g{n}", "repo": "/r"}) for n in range(9)) + "\n\n")
    plan = plan_of(
        FleetRequest(
            file=str(path),
            goals=({"goal": "last", "repo": "/r"},),
            defaults={"test": "true", "agent_command": "agent"},
        ),
        "f",
    )
    assert [each.run_id for each in plan.requests][::9] == ["f-01", "f-10"]
    assert plan.requests[-1].goal == "last"


def test_a_race_is_one_goal_in_several_ways():
    fleet = FleetRequest(
        goals=({"goal": "g", "repo": "/r", "test": "true"},),
        best_of=({"agent_command": "one"}, {"agent_command": "two", "max_iterations": 3}),
    )
    plan = plan_of(fleet, "f")
    assert plan.race
    assert [each.agent_command for each in plan.requests] == ["one", "two"]
    assert plan.requests[1].max_iterations == 3


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        ("goals = 1", "g.toml", "unknown key 'goals'; did you mean 'goal'"),
        (
            "parallel = 0\n[[goal]]\ngoal='x'\nrepo='/r'\ntest='t'\nagent_command='a'",
            "g.toml",
            "parallel of the fleet",
        ),
        ("goal = 3", "g.toml", r"\[\[goal\]\]"),
        ("[defaults]\ngoal = 'x'", "g.toml", "belongs into each"),
        (
            "[[goal]]\ngoal = 'x'\nrepo='/r'\ntst='true'",
            "g.toml",
            "goal 1 has the unknown key 'tst'; did you mean 'test'",
        ),
        ("[[goal]]\ngoal = 'x'\nrepo='/r'", "g.toml", "--test is missing"),
        ("[[goal]", "g.toml", "not valid TOML"),
        ("{", "g.jsonl", "line 1 is not JSON"),
        ("[1]", "g.jsonl", "line 1 must be an object"),
        ("", "g.jsonl", "no goals"),
        (None, "g.jsonl", "cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path, text, name, sentence):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=sentence):
        plan_of(FleetRequest(file=str(path)), "f")


def test_a_race_with_two_goals_is_refused():
    goal = {"goal": "g", "repo": "/r", "test": "true", "agent_command": "a"}
    with pytest.raises(InputError, match="one goal"):
        plan_of(FleetRequest(goals=(goal, goal), best_of=({}, {})), "f")


def test_what_the_fleet_leaves_open_the_repository_of_the_goal_says(tmp_path):
    (tmp_path / "buildloop.toml").write_text('test = "make test"\nagent_command = "a"\nmax_turns = 3\n')
    goals = ({"goal": "g", "repo": str(tmp_path), "agent_command": "mine"},)
    (made,) = plan_of(FleetRequest(goals=goals), "f").requests
    assert (made.test, made.agent_command, made.max_turns) == (("make test",), "mine", 3)
