"""`docs/reliability.md` names a test for every fault, and every test it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ROWS = [line for line in TABLE.splitlines() if line.startswith("| ") and not line.startswith("| fault ")]
NAME = re.compile(r"`(test_\w+)`")


def test_every_fault_has_a_test():
    assert len(ROWS) > 25
    assert [row for row in ROWS if not NAME.search(row.rsplit("|", 2)[1])] == []


def test_every_named_test_exists():
    written = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    known = set(re.findall(r"^def (test_\w+)", written, re.M))
    assert set(NAME.findall(TABLE)) - known == set()


def test_every_test_of_faults_is_in_the_table():
    here = "\n".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*_faults.py")
    )
    assert set(re.findall(r"^def (test_\w+)", here, re.M)) <= set(NAME.findall(TABLE))
