"""What the documentation says of versions and limits is what the code does."""

from __future__ import annotations

from pathlib import Path

from buildloop.agents.catalogue import CATALOGUE
from buildloop.capture import HEAD_BYTES, TAIL_BYTES
from buildloop.models import AgentOutcome, Permissions

TEXT = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")


def test_the_documented_versions_are_the_pinned_ones():
    (row,) = [line for line in TEXT.splitlines() if line.startswith("| tested version")]
    assert [cell.strip() for cell in row.split("|")[2:-1]] == [cli.tested for cli in CATALOGUE.values()]


def test_every_outcome_and_permission_is_explained():
    assert all(f"`{outcome}`" in TEXT for outcome in AgentOutcome)
    assert all(f"`{choice}`" in TEXT for choice in Permissions)


def test_the_documented_limits_hold():
    assert f"first {HEAD_BYTES // 2**20} MB and the last {TAIL_BYTES // 2**20} MB" in TEXT
    assert {cli.longest_prompt for cli in CATALOGUE.values()} == {400_000, None}
