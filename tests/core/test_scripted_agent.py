"""The scripted agent: rules that react to call, session, prompt and files, and play any outcome."""

from __future__ import annotations

import pytest

from buildloop.agents.scripted import ScriptedAgent, load_script
from buildloop.errors import InputError
from buildloop.models import AgentOutcome, Usage
from tests.support.calls import agent_call
from tests.support.scripts import write_script


@pytest.fixture
def play(tmp_path):
    """Play one call of a script; the run's memory stays between calls."""

    def call(*rules: dict, prompt: str = "the prompt", session: int = 1):
        agent = ScriptedAgent(write_script(tmp_path / "agent.json", *rules))
        return agent.run(agent_call(tmp_path, prompt, session=session))

    return call


def said(*conditions: dict) -> list[dict]:
    return [{"when": when, "say": f"rule {number}"} for number, when in enumerate(conditions)]


def test_the_first_rule_that_fits_is_played(play):
    assert play(*said({"prompt": "absent"}, {}, {})).text == "rule 1"


def test_call_counts_every_call_of_the_run(play):
    rules = said({"call": 1}, {"call": [2, 3]}, {})
    assert [play(*rules).text for _ in range(4)] == ["rule 0", "rule 1", "rule 1", "rule 2"]


def test_times_bounds_one_rule(play):
    rules = said({"times": 2}, {})
    assert [play(*rules).text for _ in range(3)] == ["rule 0", "rule 0", "rule 1"]


def test_session_and_prompt_decide(play):
    rules = said({"session": 2}, {"prompt": r"^## What Failed$"}, {"not_prompt": "green"}, {})
    assert play(*rules, session=2).text == "rule 0"
    assert play(*rules, prompt="x\n## What Failed\ny").text == "rule 1"
    assert play(*rules, prompt="red").text == "rule 2"
    assert play(*rules, prompt="green").text == "rule 3"


def test_files_decide(play, tmp_path):
    rules = said(
        {"file": {"path": "a.py", "contains": "bug"}}, {"file": {"path": "a.py", "exists": False}}, {}
    )
    assert play(*rules).text == "rule 1"
    (tmp_path / "work" / "a.py").write_text("a bug")
    assert play(*rules).text == "rule 0"
    (tmp_path / "work" / "a.py").write_text("fine")
    assert play(*rules).text == "rule 2"


def test_write_patch_delete_and_run_happen_in_order(play, tmp_path):
    work = tmp_path / "work"
    do = [
        {"write": "sub/a.py", "text": "one"},
        {"patch": "sub/a.py", "find": "one", "replace": "two"},
        {"run": ["cp", "sub/a.py", "b.py"]},
        {"delete": "sub/a.py"},
    ]
    play({"do": do})
    assert (work / "b.py").read_text() == "two"
    assert not (work / "sub" / "a.py").exists()


@pytest.mark.parametrize(
    "outcome", [outcome.value for outcome in AgentOutcome if outcome is not AgentOutcome.OK]
)
def test_any_outcome_can_be_played(play, outcome):
    reply = play({"outcome": outcome, "error": "because"})
    assert (reply.outcome, reply.error) == (outcome, "because")


def test_usage_and_the_claim_are_reported(play):
    reply = play({"say": "all done", "done": True, "usage": {"context_tokens": 5}})
    assert reply.claims_done
    assert reply.text == "all done\nBUILDLOOP-DONE"
    assert reply.usage == Usage(context_tokens=5)


def test_no_fitting_rule_does_nothing(play, tmp_path):
    assert play(*said({"prompt": "absent"})).outcome is AgentOutcome.OK
    assert list((tmp_path / "work").iterdir()) == []


def test_a_failed_call_counts_as_a_call(play):
    """A rule for call 2 is played after an outage at call 1."""
    rules = ({"when": {"call": 1}, "outcome": "transient"}, {"when": {"call": 2}, "say": "back"})
    assert play(*rules).outcome is AgentOutcome.TRANSIENT
    assert play(*rules).text == "back"


def test_toml_is_read_as_the_documentation_shows_it(tmp_path):
    (tmp_path / "agent.toml").write_text(
        '[[rule]]\nwhen = { call = 1 }\ndo = [{ write = "a", text = "b" }]\n'
    )
    assert load_script(tmp_path / "agent.toml").rule[0].do[0].write == "a"


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "a/../../outside"])
def test_a_script_cannot_leave_the_workspace(play, name):
    with pytest.raises(InputError, match="outside the workspace"):
        play({"do": [{"write": name, "text": "x"}]})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{"),
        ("a.json", '{"rule": []}'),
        ("a.json", '{"rule": [{"do": [{"write": "a", "delete": "b"}]}]}'),
        ("a.json", '{"rule": [{"when": {"prompt": "("}}]}'),
        ("a.json", '{"rule": [{"outcome": "splendid"}]}'),
        ("a.json", '{"rules": []}'),
        ("a.toml", "rule = 3 4"),
        ("a.toml", "[[rule]]\nwhen = { cal = 1 }"),
    ],
)
def test_a_script_that_makes_no_sense_is_one_sentence(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as raised:
        load_script(tmp_path / name)
    assert len(str(raised.value).splitlines()) == 1
    assert name in str(raised.value)


def test_a_script_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        load_script(tmp_path / "none.toml")
