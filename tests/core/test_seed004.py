"""Seed 004, the immutable goal: its validation criteria by name."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from buildloop.diagnosis.model import FailureMode
from buildloop.errors import InputError, StateWriteError
from buildloop.goal import StateFile, parse_state, read_state, render_state, strip_legacy, write_state
from buildloop.prompt.compose import compose_prompt
from buildloop.report.views import state_file
from tests.support.states import RED, iteration, state

PLENTY = 2**40
SYNTHESIS = "BLOCKING ISSUES: tests fail\n\nPrevious build: red\n\nKNOWN FIX: try again"


def some_state(goal: str, original_goal: str | None = None, **fields: object) -> StateFile:
    given = {"run_id": "r", "status": "running", "iteration": 1, "max_iterations": 20, **fields}
    return StateFile.model_validate({**given, "goal": goal, "original_goal": original_goal or goal})


def goal_section(prompt: str) -> str:
    return prompt.split("## Your Goal\n\n")[1].split("\n\n## ")[0]


def test_write_state_twice_with_a_mutated_goal_keeps_the_first_original_goal(tmp_path):
    path = tmp_path / "loop-state.md"
    write_state(path, some_state("fix the login bug"), PLENTY)
    written = write_state(path, some_state(f"fix the login bug\n\n{SYNTHESIS}"), PLENTY)
    assert written.original_goal == "fix the login bug"
    again = read_state(path)
    assert again.original_goal == "fix the login bug"
    assert again.goal == f"fix the login bug\n\n{SYNTHESIS}"


@pytest.mark.parametrize("mode", [None, FailureMode.CODE_ERROR, FailureMode.INFINITE_LOOP])
def test_compose_prompts_goal_section_is_the_original_goal_stuck_or_not(mode):
    stuck = iteration(1, RED, mode=mode, note="Take a different approach.")
    prompt = compose_prompt(state(iteration(0, RED), stuck, goal="fix the\nlogin bug")).text
    assert goal_section(prompt) == "fix the\nlogin bug"


def test_the_goal_section_does_not_grow_from_iteration_to_iteration():
    now = state(iteration(0, RED))
    sections = set()
    for number in range(1, 11):
        now = now.with_iteration(
            iteration(number, RED, mode=FailureMode.INFINITE_LOOP, note="Do it otherwise.")
        )
        sections.add(goal_section(compose_prompt(now).text))
    assert sections == {"make the tests pass"}


def test_original_goal_has_no_appended_synthesis():
    """Notes and redirects go into `goal`; the user's own words stay alone in `original_goal`."""
    noted = state(iteration(0, RED), iteration(1, RED, mode=FailureMode.DEPENDENCY_ISSUE, note=SYNTHESIS))
    seen = state_file(noted, "running", "", datetime.now(UTC))
    assert SYNTHESIS in seen.goal
    assert seen.original_goal == "make the tests pass"


def test_a_multi_line_goal_round_trips(tmp_path):
    goal = 'first line\n\n  - "quoted"\\n\n---\ngoal: other\nmodel: haiku\n\ttab\n'
    path = tmp_path / "loop-state.md"
    write_state(path, some_state(goal), PLENTY)
    assert read_state(path).original_goal == goal
    assert read_state(path).goal == goal


@given(st.text(), st.text(min_size=1))
def test_any_text_round_trips(goal, original):
    written = some_state(goal, original)
    assert parse_state(render_state(written)) == written


@given(st.text())
def test_any_text_round_trips_through_the_file(goal):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "loop-state.md"
        write_state(path, some_state(goal), PLENTY)
        assert read_state(path).goal == goal


@given(st.binary(max_size=200))
def test_a_goal_that_was_not_valid_utf8_round_trips(raw):
    """The shell hands over bytes; what Python made of them must come back."""
    with tempfile.TemporaryDirectory() as folder:
        goal, path = raw.decode("utf-8", "surrogateescape"), Path(folder) / "loop-state.md"
        write_state(path, some_state(goal), PLENTY)
        assert read_state(path).goal == goal


def test_the_front_matter_is_yaml_that_other_tools_read():
    text = render_state(some_state("a: b # c\nd", max_iterations=20))
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["goal"] == "a: b # c\nd"
    assert front["max_iterations"] == 20


def test_the_original_goal_is_identical_in_two_snapshots(tmp_path):
    """The seed's manual inspection: the line itself, after two iterations with a failure."""
    path, lines = tmp_path / "loop-state.md", []
    now = state(iteration(0, RED))
    for number in (1, 2):
        now = now.with_iteration(
            iteration(number, RED, mode=FailureMode.INFINITE_LOOP, note=f"order {number}")
        )
        write_state(path, state_file(now, "running", "", datetime.now(UTC)), PLENTY)
        lines += [line for line in path.read_text().splitlines() if line.startswith("original_goal:")]
    assert len(lines) == 2
    assert len(set(lines)) == 1


@pytest.mark.parametrize(
    "marker", ["BLOCKING ISSUES", "Previous build", "KNOWN FIX", "## Previous Session Context"]
)
def test_a_legacy_file_without_original_goal_gives_the_users_own_words(marker):
    legacy = f'---\nrun_id: r\ngoal: "fix it\\n\\n{marker}: x"\nstatus: running\niteration: 1\nmax_iterations: 2\n---\n'
    assert parse_state(legacy).original_goal == "fix it"


def test_a_goal_that_begins_with_a_marker_is_not_emptied():
    assert strip_legacy("KNOWN FIX: document it") == "KNOWN FIX: document it"


def test_write_state_refuses_below_100_mb_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "loop-state.md"
    write_state(path, some_state("first"), PLENTY)
    before = path.read_bytes()
    with pytest.raises(StateWriteError, match="99 MB"):
        write_state(path, some_state("second"), 100 * 2**20 - 1)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["loop-state.md"]


@pytest.mark.parametrize(
    "damage", ["", "no front matter", "---\n[\n---\n", "---\niteration: 1\n---\n", "---\ngoal: x\n---\n"]
)
def test_a_damaged_state_file_is_one_sentence(damage):
    with pytest.raises(InputError) as raised:
        parse_state(damage)
    assert len(str(raised.value).splitlines()) == 1
