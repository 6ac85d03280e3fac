"""What the documentation says of versions and limits is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from buildloop.agents.catalogue import CATALOGUE
from buildloop.capture import HEAD_BYTES, TAIL_BYTES
from buildloop.events import EVENT_FIELDS
from buildloop.ledger import LEDGER_FILE, UNDER_WAY_FILE
from buildloop.models import AgentOutcome, Permissions

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "agents.md").read_text(encoding="utf-8")
EVENT_ROW = re.compile(r"^\| `(?P<type>[a-z]+\.[a-z_]+)` \| (?P<fields>.*) \|$", re.M)


def test_the_documented_versions_are_the_pinned_ones():
    (row,) = [line for line in TEXT.splitlines() if line.startswith("| tested version")]
    assert [cell.strip() for cell in row.split("|")[2:-1]] == [cli.tested for cli in CATALOGUE.values()]


def test_every_outcome_and_permission_is_explained():
    assert all(f"`{outcome}`" in TEXT for outcome in AgentOutcome)
    assert all(f"`{choice}`" in TEXT for choice in Permissions)


def test_the_documented_limits_hold():
    assert f"first {HEAD_BYTES // 2**20} MB and the last {TAIL_BYTES // 2**20} MB" in TEXT
    assert {cli.longest_prompt for cli in CATALOGUE.values()} == {400_000, None}


def test_the_table_of_events_has_every_type_with_all_its_fields():
    files = (DOCS / "files.md").read_text(encoding="utf-8")
    files = files.partition("## Events")[2]
    rows = {row["type"]: re.sub(r" \(.*?\)", "", row["fields"]) for row in EVENT_ROW.finditer(files)}
    assert {name: frozenset(fields.split(", ")) for name, fields in rows.items()} == EVENT_FIELDS


def test_the_files_about_agent_calls_are_listed():
    files = (DOCS / "files.md").read_text(encoding="utf-8")
    assert all(f"| `{name}`" in files for name in (LEDGER_FILE, UNDER_WAY_FILE, "agents/<name>/"))


def test_the_documented_turn_limits_are_those_of_the_table():
    (row,) = [line for line in TEXT.splitlines() if line.startswith("| `--max-turns`")]
    limits = [cell.strip() == "yes" for cell in row.split("|")[2:-1]]
    assert limits == [cli.limits_turns for cli in CATALOGUE.values()]
    named = ", ".join(cli.name for cli in CATALOGUE.values() if cli.limits_turns)
    assert f"({named})" in (DOCS.parent / "buildloop" / "cli" / "work.py").read_text(encoding="utf-8")
