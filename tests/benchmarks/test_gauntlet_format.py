"""The gauntlet's scenarios are well formed, and the policies it compares with end within their cap."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.gauntlet_parts.outcome import Mark, judged
from benchmarks.gauntlet_parts.scenario import Scenario, load_scenario, load_scenarios
from benchmarks.gauntlet_parts.seed_rules import mode_of, react_by_the_seeds
from benchmarks.gauntlet_parts.tables import Gauntlet, as_json, as_markdown
from benchmarks.gauntlet_parts.while_loop import GateRun, Turn, no_reaction, run_while_loop
from buildloop.agents.scripted import load_script
from buildloop.errors import InputError
from buildloop.result import StopReason

# Plays whole scenarios.
pytestmark = pytest.mark.slow

SCENARIOS = Path(__file__).parents[2] / "benchmarks" / "scenarios"
PLAIN, SEEDS = no_reaction, react_by_the_seeds

TINY = {
    "name": "tiny",
    "description": "one file that says no",
    "goal": "say yes",
    "gate": ("grep -q yes answer.txt",),
    "files": {"answer.txt": "no\n"},
    "cap": 12,
    "solvable": True,
    "expect": "complete",
}
SAYS_YES = {"do": [{"write": "answer.txt", "text": "yes\n"}]}
SAYS_NO = {"do": [{"write": "answer.txt", "text": "never\n"}]}


def tiny(*rules: dict, **changes: object) -> Scenario:
    return Scenario.model_validate({**TINY, "rule": rules, **changes})


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_a_scenario_is_well_formed_and_its_agent_has_valid_rules(path, tmp_path):
    scenario = load_scenario(path)
    script = load_script(scenario.write_agent_script(tmp_path / "agent.json"))
    assert len(script.rule) == len(scenario.rule)
    assert len(scenario.description) > 20


def test_there_are_enough_of_both_kinds():
    counted = [scenario for scenario in load_scenarios(SCENARIOS) if scenario.requires is None]
    assert len(counted) >= 24
    assert sum(not scenario.solvable for scenario in counted) >= 5


@pytest.mark.parametrize("react", [PLAIN, SEEDS])
def test_a_policy_ends_with_the_first_green_gate(react, tmp_path):
    scenario = tiny({"when": {"call": 1}, **SAYS_NO}, SAYS_YES)
    ended = run_while_loop(scenario, tmp_path / "p", react)
    assert (ended.reason, ended.calls) == (StopReason.COMPLETE, 2)
    assert judged(scenario, "p", ended, tmp_path).mark is Mark.SOLVED


@pytest.mark.parametrize(("react", "calls"), [(PLAIN, 12), (SEEDS, 10)])
def test_a_policy_never_uses_more_than_its_cap(react, calls, tmp_path):
    """The seeds cut to 10 what they take for a loop."""
    ended = run_while_loop(tiny(SAYS_NO), tmp_path / "p", react)
    assert (ended.reason, ended.calls) == (StopReason.MAX_ITERATIONS, calls)


def test_a_green_gate_with_an_edited_test_is_not_solved(tmp_path):
    cheat = {"do": [{"write": "test_it.sh", "text": "exit 0\n"}]}
    files = {"answer.txt": "no\n", "test_it.sh": "grep -q yes answer.txt\n"}
    scenario = tiny(cheat, gate=("sh test_it.sh",), files=files)
    ended = run_while_loop(scenario, tmp_path / "p", PLAIN)
    assert judged(scenario, "p", ended, tmp_path).mark is Mark.FALSE_GREEN


def test_the_tables_count_only_what_is_asked_of_the_loop(tmp_path):
    scenarios = (tiny(SAYS_YES), tiny(SAYS_YES, name="apart", requires="integrity"))
    outcomes = {
        (scenario.name, policy): judged(
            scenario, policy, run_while_loop(scenario, tmp_path / scenario.name / policy, PLAIN), tmp_path
        )
        for scenario in scenarios
        for policy in ("one", "two")
    }
    gauntlet = Gauntlet(scenarios, ("one", "two"), outcomes, {"other": "npm not installed"})
    assert [total.calls for total in gauntlet.totals] == [1, 1]
    assert gauntlet.call_ratio == 1
    assert "Skipped: other (npm not installed)" in as_markdown(gauntlet)
    assert len(as_json(gauntlet)["outcomes"]) == 4


@pytest.mark.parametrize(
    ("log", "mode"),
    [
        ("ModuleNotFoundError: No module named 'x'", "dependency_issue"),
        ("Traceback: an error", "test_flakiness"),
        ("AssertionError: 1 != 2", "code_error"),
    ],
)
def test_the_seeds_rules_are_literal(log, mode):
    """Also where they are wrong: the word race is in every Traceback."""
    assert mode_of([Turn(GateRun(False, log))]) == mode


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"expect": "stuck"}, "solvable"),
        ({"files": {}}, "folder"),
        ({"gate": ()}, "gate"),
        ({"wrong": 1}, "wrong"),
    ],
)
def test_a_wrong_scenario_is_refused_in_one_sentence(changes, word, tmp_path):
    given = {"rule": [{}], **TINY, **changes}
    (tmp_path / "bad.toml").write_text("\n".join(_toml(key, value) for key, value in given.items()))
    with pytest.raises(InputError, match=word):
        load_scenario(tmp_path / "bad.toml")


def _toml(key: str, value: object) -> str:
    if isinstance(value, dict):
        return f"{key} = {{ " + ", ".join(f'"{k}" = {v!r}' for k, v in value.items()) + " }"
    if isinstance(value, list):
        return f"{key} = [{', '.join('{}' for _ in value)}]"
    if isinstance(value, tuple):
        return f"{key} = {list(value)!r}"
    return f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}"
