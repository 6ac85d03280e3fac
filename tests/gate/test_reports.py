"""Reports that a gate left: only plain files inside the workspace are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from buildloop.gate.report import masked_reports, reports_left

REPORT = "<testsuite/>"


def plant(kind: str, place: Path, target: Path) -> None:
    match kind:
        case "link":
            place.symlink_to(target)
        case "pipe":
            os.mkfifo(place)


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_nothing_but_a_plain_file_is_taken_for_the_runners_report(tmp_path, kind):
    key = tmp_path / "id_rsa"
    key.write_text("the key")
    own = tmp_path / "out" / "gate.junit.xml"
    own.parent.mkdir()
    plant(kind, own, key)
    assert masked_reports(own, [], str) == []
    assert not own.is_symlink()
    assert not own.exists()
    assert key.read_text() == "the key"


def test_a_link_out_of_the_workspace_is_no_report(tmp_path):
    outside, work = tmp_path / "outside", tmp_path / "work"
    outside.mkdir()
    (work / "reports").mkdir(parents=True)
    (outside / "a.xml").write_text(REPORT)
    (work / "reports" / "own.xml").write_text(REPORT)
    (work / "reports" / "a.xml").symlink_to(outside / "a.xml")
    (work / "there").symlink_to(outside)
    assert reports_left(work, ["reports/*.xml", "there/*.xml"], 0) == [work / "reports" / "own.xml"]
