"""What the last green log also said is not why this one is red."""

from __future__ import annotations

from pathlib import Path

from buildloop.gate.noise import template, templates_of, templates_of_log, without_noise
from buildloop.gate.read import read_text


def test_a_template_forgets_what_varies_and_keeps_what_is_said():
    a = (
        "ERROR worker 17 at 0x7f3a lost /tmp/x1/y 9f86d081884c7d65 in 1.25s "
        "(8b1c3f2e-0000-4000-8000-000000000001)"
    )
    b = (
        "ERROR worker 3 at 0x11 lost /tmp/zz/q 5feceb66ffc86f38 in 300.1s "
        "(11111111-2222-4333-8444-555555555555)"
    )
    assert template(a) == template(b)
    assert template("ERROR cannot open a") != template("ERROR cannot open b")


def test_noise_of_the_green_log_goes_and_the_news_stays():
    green = templates_of(["ERROR metrics: cannot reach collector after 3 tries"])
    red = read_text("ERROR metrics: cannot reach collector after 5 tries\nerror: gizmo is gone\n", 1)
    cleared = without_noise(red, green)
    assert cleared.error_lines == ("error: gizmo is gone",)
    assert [finding.message for finding in cleared.findings] == ["gizmo is gone"]


def test_when_everything_was_said_before_nothing_is_taken_away():
    red = read_text("error: gizmo is gone\n", 1)
    assert without_noise(red, templates_of(["error: gizmo is gone"])) == red


def test_a_failing_test_is_kept_even_if_its_lines_are_known():
    red = read_text("FAILED tests/test_a.py::test_b - ValueError: no\nerror: other\n", 1)
    cleared = without_noise(red, templates_of(["FAILED tests/test_a.py::test_b - ValueError: no"]))
    assert cleared.findings[0].test == "tests/test_a.py::test_b"


def test_templates_of_a_file(tmp_path: Path):
    path = tmp_path / "green.log"
    path.write_text("\x1b[32mwarm up 12\x1b[0m\n\n", encoding="utf-8")
    assert templates_of_log(path) == {"warm up <n>"}
