"""docs/settings.md says what the code says."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from buildloop.config import OF_THE_MACHINE, VARIABLES, gather_settings, make_request
from buildloop.memory.location import VARIABLE as MEMORY_VARIABLE

ROOT = Path(__file__).parents[2]
WRITTEN = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


def test_the_page_is_not_stale():
    made = runpy.run_path(str(ROOT / "scripts" / "settings_page.py"))["page"]()
    assert made == WRITTEN, "run: python scripts/settings_page.py"


@pytest.mark.parametrize("variable", sorted({*VARIABLES, *OF_THE_MACHINE, MEMORY_VARIABLE}))
def test_every_variable_is_there(variable):
    assert f"`{variable}`" in WRITTEN


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("make test", ("make test",)),
        ('["make lint", "make test"]', ("make lint", "make test")),
        ("[ -f done ]", ("[ -f done ]",)),
    ],
)
def test_a_list_in_a_variable(tmp_path, given, wanted):
    flags = {"goal": "g", "repo": str(tmp_path), "agent_command": "true"}
    assert make_request(gather_settings(flags, {"BUILDLOOP_TEST": given}, tmp_path)).test == wanted


@pytest.mark.parametrize(("given", "wanted"), [("1", True), ("yes", True), ("false", False), ("no", False)])
def test_yes_and_no_in_a_variable(tmp_path, given, wanted):
    flags = {"goal": "g", "repo": str(tmp_path), "agent_command": "true", "test": "true"}
    assert make_request(gather_settings(flags, {"BUILDLOOP_HUMAN": given}, tmp_path)).human is wanted
