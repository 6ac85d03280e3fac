"""Settings: flags > BUILDLOOP_* > buildloop.toml > defaults, and a wrong key names the nearest right one."""

from __future__ import annotations

import pytest

from buildloop.config import SETTINGS, VARIABLES, Setting, gather_settings, make_request
from buildloop.errors import InputError
from buildloop.request import BuildRequest, new_run_id
from tests.support.states import request


def values(flags: dict, environment: dict, folder) -> dict[str, object]:
    return {name: setting.value for name, setting in gather_settings(flags, environment, folder).items()}


def problem(**fields: object) -> str:
    given = {"goal": "g", "repo": "/r", "test": ("t",), "agent_command": "a", **fields}
    with pytest.raises(InputError) as raised:
        make_request({name: Setting(value, f"--{name}") for name, value in given.items()})
    assert len(str(raised.value).splitlines()) == 1
    return str(raised.value)


def test_each_layer_wins_over_the_one_below(tmp_path):
    (tmp_path / "buildloop.toml").write_text('max_iterations = 1\nmax_restarts = 1\nmodel = "file"\n')
    environment = {"BUILDLOOP_MAX_ITERATIONS": "2", "BUILDLOOP_MAX_RESTARTS": "2", "OTHER": "x"}
    found = values({"max_iterations": 3, "model": None}, environment, tmp_path)
    assert found == {"max_iterations": 3, "max_restarts": "2", "model": "file"}


def test_without_a_file_nothing_is_set(tmp_path):
    assert values({}, {}, tmp_path) == {}


def test_every_setting_has_a_variable():
    assert set(VARIABLES.values()) == set(SETTINGS)
    assert "BUILDLOOP_GATE_TIMEOUT" in VARIABLES
    assert "goal" not in SETTINGS


def test_an_empty_variable_is_no_setting(tmp_path):
    assert values({}, {"BUILDLOOP_MODEL": ""}, tmp_path) == {}


def test_an_unknown_key_names_the_nearest(tmp_path):
    (tmp_path / "buildloop.toml").write_text("max_iteration = 1\n")
    with pytest.raises(InputError, match=r"'max_iteration'; did you mean 'max_iterations'\?"):
        gather_settings({}, {}, tmp_path)


def test_an_unknown_variable_names_the_nearest(tmp_path):
    with pytest.raises(InputError, match=r"BUILDLOOP_AGENT_TIME; did you mean 'BUILDLOOP_AGENT_TIMEOUT'\?"):
        gather_settings({}, {"BUILDLOOP_AGENT_TIME": "5"}, tmp_path)


def test_a_key_like_no_other_lists_the_known_ones(tmp_path):
    (tmp_path / "buildloop.toml").write_text("zzzzzz = 1\n")
    with pytest.raises(InputError, match="known keys: test, accept"):
        gather_settings({}, {}, tmp_path)


@pytest.mark.parametrize("content", [b"a = ", b"\xff\xfe", b"[[[["])
def test_a_file_that_is_no_toml_is_one_sentence_with_its_name(tmp_path, content):
    (tmp_path / "buildloop.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"buildloop\.toml is not valid TOML") as raised:
        gather_settings({}, {}, tmp_path)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("test", ()),
        ("test", ("ok", "  ")),
        ("context_threshold", 0),
        ("context_threshold", 101),
        ("context_window", -1),
        ("max_iterations", 0),
        ("max_iterations", -3),
        ("max_restarts", -1),
        ("max_restarts", 6),
        ("agent_timeout", 0),
        ("agent_timeout", -1.5),
        ("agent_timeout", float("inf")),
        ("gate_timeout", float("inf")),
        ("gate_timeout", float("nan")),
        ("retry_delay", float("inf")),
        ("prompt_budget", -1),
        ("failure_mode", "bad_luck"),
        ("agent_command", "unclosed 'quote"),
        ("agent_command", ""),
        ("run_id", "../escape"),
    ],
)
def test_a_value_that_cannot_work_names_its_place(field, value):
    assert f"--{field}" in problem(**{field: value})


@pytest.mark.parametrize("agent", [",", " , "])
def test_a_ladder_without_an_agent_is_refused(agent):
    assert "name at least one agent" in problem(agent=agent)


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_a_run_needs_a_goal_or_an_issue(blank):
    assert "--issue N" in problem(goal=blank)
    assert request(goal=blank, issue=3).issue == 3


def test_the_limits_themselves_are_allowed():
    edge = request(context_threshold=100, max_restarts=5, max_iterations=1, context_window=0, retry_delay=0)
    assert (edge.context_threshold, edge.max_restarts) == (100, 5)
    assert request(context_threshold=1, max_restarts=0).max_restarts == 0


def test_one_test_command_may_be_a_plain_string():
    assert request(test="pytest -q").test == ("pytest -q",)


def test_a_request_survives_its_file():
    """Any goal and every setting comes back from request.json as it was."""
    asked = request(goal='a\n"b"\\ \u2028 ünï', accept="x", failure_mode="code_error", dirty="include")
    assert BuildRequest.model_validate_json(asked.model_dump_json()) == asked


def test_run_ids_differ_and_are_safe_names():
    made = {new_run_id() for _ in range(50)}
    assert len(made) == 50
    assert all(request(run_id=one).run_id == one for one in made)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("max_iterations", -1, "--max_iterations must be at least 1 (got -1)"),
        ("max_iterations", "many", "--max_iterations must be a whole number (got 'many')"),
        ("max_restarts", 9, "must be at most 5 (got 9)"),
        ("human", "perhaps", "must be true or false (got 'perhaps')"),
        ("dirty", "keep", "must be 'refuse', 'include' or 'ignore' (got 'keep')"),
        ("agent_timeout", "soon", "must be a number"),
        ("test", {"a": 1}, "must be a list"),
        ("sandbox", "docker", "--sandbox-image"),
        ("agent", "scripted", "--agent-script"),
        ("agent", "codex:", "write NAME:MODEL, or NAME alone"),
        ("falsify", "claude,codex", "--falsify takes one agent only"),
        ("falsify", "command", "--falsify-command"),
        ("sandbox_writable", "cache", "give the whole path"),
        ("goal", "x" * 1_000_000, "background belongs into --context"),
        ("goal", "a\0b", "NUL"),
        ("test", ["true", "a\0b"], "NUL"),
    ],
)
def test_problems_are_said_in_the_words_of_the_command_line(field, value, said):
    told = problem(**{field: value})
    assert said in told
    assert len(told) < 300
    assert "nput should" not in told


def test_a_folder_of_the_users_may_be_writable():
    assert request(sandbox_writable="~/.cache/pip").sandbox_writable[0].startswith("/")


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("BUILDLOOP_ASK", "--ask of the command line is called 'BUILDLOOP_HUMAN' here, with the value true"),
        ("BUILDLOOP_FROM_HEAD", "'BUILDLOOP_DIRTY' here, with the value ignore"),
        ("BUILDLOOP_ZZZ", "known keys: BUILDLOOP_TEST"),
        ("BUILDLOOP_max_restarts", "did you mean 'BUILDLOOP_MAX_RESTARTS'?"),
    ],
)
def test_only_what_is_alike_is_suggested(tmp_path, variable, said):
    with pytest.raises(InputError) as raised:
        gather_settings({}, {variable: "1"}, tmp_path)
    assert said in str(raised.value)
