"""The reference pages name everything that the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from buildloop.cli.status import run_facts
from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.model import Attempt
from buildloop.diagnosis.observe import observe_text
from buildloop.diagnosis.protocol import log_answer
from buildloop.result import EXIT_CODES, BuildResult
from buildloop.rundir import RunDir
from tests.support.states import request

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
    ROOT / "README.md",
]
JSON = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")


def test_every_field_of_a_result_is_named():
    assert [name for name in BuildResult.model_fields if f"`{name}`" not in JSON] == []
    assert {f"| {code} |" for code in EXIT_CODES.values()} <= set(re.findall(r"\| \d+ \|", JSON))


def test_every_field_of_a_diagnosis_is_named():
    reading = observe_text("E   assert 1 == 2\n")
    told = log_answer(reading, diagnose([Attempt(passed=False, reading=reading)]))
    assert [name for name in told if f"`{name}`" not in JSON] == []


def test_every_field_of_a_status_is_named(tmp_path):
    run = RunDir(tmp_path / "runs" / "r1")
    run.save("request.json", request())
    assert [name for name in run_facts(run) if f"`{name}`" not in JSON] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
