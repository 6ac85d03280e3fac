"""Every validation criterion and worked example of seed 002, by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.diagnosis import actionability
from buildloop.diagnosis.actionability import (
    enhance_error_line,
    enhance_error_summary,
    score_error_summary,
)
from buildloop.diagnosis.categories import categorize_error
from buildloop.diagnosis.model import Category
from buildloop.diagnosis.rubric import score_error_line

VAGUE = ["FAIL something broke", "Error: test failed"]
CLEAR = "TypeError: Cannot read property 'x' of undefined at src/app.ts:42"


class Events(list[tuple[str, dict[str, Any]]]):
    def __call__(self, event_type: str, **fields: Any) -> None:
        self.append((event_type, fields))


def write_summary(run_dir: Path, lines: object, **more: object) -> Path:
    path = run_dir / "error-summary.json"
    path.write_text(
        json.dumps({"iteration": 3, "error_count": 2, "error_lines": lines, "test_cmd": "npm test", **more}),
        encoding="utf-8",
    )
    return path


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def test_score_error_line_returns_0_for_fail_something_went_wrong():
    assert score_error_line("FAIL something went wrong") == 0


def test_score_error_line_returns_more_than_70_for_the_type_error_example():
    assert score_error_line(CLEAR) > 70


@pytest.mark.parametrize("line", VAGUE)
def test_worked_example_lines_score_0(line: str):
    assert score_error_line(line) == 0


@pytest.mark.parametrize(
    ("line", "points"),
    [
        ("see src/app.ts", 25),
        ("at line 12", 20),
        ("ENOENT", 20),
        ("expected something", 20),
        ("did you mean foo", 15),
    ],
)
def test_rubric_25_20_20_20_15(line: str, points: int):
    assert score_error_line(line) == points


@pytest.mark.parametrize(
    ("line", "least"),
    [
        ("error[E0382]: borrow of moved value: `s`", 40),
        ("main_test.go:17: got 3, want 4", 65),
        ("cp: cannot create x: Permission denied", 40),
        ("src/a.ts(2,26): error TS2322: Type 'a' is not assignable to type 'b'.", 70),
        ("  --> src/main.rs:4:23", 45),
        ("tests/test_a.py:12: AssertionError", 65),
    ],
)
def test_lines_of_every_language_get_their_points(line: str, least: int):
    assert score_error_line(line) >= least


def test_an_ordinary_line_with_a_url_and_a_time_scores_nothing():
    assert score_error_line("2024-01-01 12:00:00 INFO GET https://example.com:443/app.js 200") == 0


@given(st.text())
def test_score_is_always_between_0_and_100(line: str):
    assert 0 <= score_error_line(line) <= 100


def test_categorize_error_knows_all_six():
    found = {
        categorize_error(line)
        for line in (
            "SyntaxError: invalid syntax",
            CLEAR,
            "AssertionError: 1 != 2",
            "npm ERR! code ERESOLVE",
            "src/a.ts(1,1): error TS2322: no",
            VAGUE[0],
        )
    }
    assert found == set(Category)


def test_score_error_summary_returns_100_for_missing_empty_or_zero_error_files(tmp_path: Path):
    path = tmp_path / "error-summary.json"
    assert score_error_summary(path) == 100
    for content in (
        "",
        "{}",
        "[]",
        "null",
        "{",
        '{"error_lines": []}',
        '{"error_lines": 5}',
        '{"error_lines": [1, null]}',
    ):
        path.write_text(content, encoding="utf-8")
        assert score_error_summary(path) == 100


def test_score_error_summary_is_the_integer_mean(tmp_path: Path):
    assert score_error_summary(write_summary(tmp_path, [CLEAR, VAGUE[0]])) == score_error_line(CLEAR) // 2


def test_enhance_error_summary_adds_score_and_breakdown(tmp_path: Path):
    path = write_summary(tmp_path, VAGUE)
    assert enhance_error_summary(tmp_path) is True
    summary = load(path)
    assert summary["actionability_score"] == 0
    assert summary["score_breakdown"] == [{"line": line, "score": 0, "category": "unknown"} for line in VAGUE]


def test_worked_example_of_the_seed(tmp_path: Path):
    path = write_summary(tmp_path, VAGUE)
    enhance_error_summary(tmp_path, changed_files=["src/app.ts", "tests/app.test.ts"])
    summary = load(path)
    assert summary["error_lines"] == [
        f"[unknown] {line} (recently changed: src/app.ts, tests/app.test.ts)" for line in VAGUE
    ]
    assert summary["original_error_lines"] == VAGUE
    assert (summary["iteration"], summary["error_count"], summary["test_cmd"]) == (3, 2, "npm test")


def test_enhance_error_summary_replaces_error_lines_and_keeps_the_originals_below_70(tmp_path: Path):
    path = write_summary(tmp_path, VAGUE)
    enhance_error_summary(tmp_path)
    assert load(path)["original_error_lines"] == VAGUE
    assert load(path)["error_lines"] != VAGUE


def test_enhance_error_summary_does_not_add_original_error_lines_from_70(tmp_path: Path):
    path = write_summary(tmp_path, [CLEAR])
    assert enhance_error_summary(tmp_path) is False
    assert "original_error_lines" not in load(path)
    assert load(path)["error_lines"] == [CLEAR]
    assert load(path)["actionability_score"] == score_error_line(CLEAR)


def test_enhanced_lines_have_a_category_prefix():
    assert enhance_error_line("AssertionError: 1 != 2") == "[assertion] AssertionError: 1 != 2"
    assert enhance_error_line(CLEAR) == CLEAR


def test_lines_below_45_name_recently_changed_files():
    assert enhance_error_line(VAGUE[0], ["a.py"]).endswith("(recently changed: a.py)")
    assert "recently changed" not in enhance_error_line("tests/test_a.py:12: AssertionError", ["a.py"])


def test_malformed_json_missing_files_and_empty_dirs_are_handled(tmp_path: Path):
    assert enhance_error_summary(tmp_path / "nowhere") is False
    assert enhance_error_summary(tmp_path) is False
    (tmp_path / "error-summary.json").write_text("{broken", encoding="utf-8")
    assert enhance_error_summary(tmp_path) is False
    assert (tmp_path / "error-summary.json").read_text(encoding="utf-8") == "{broken"


def test_event_has_the_four_fields(tmp_path: Path):
    write_summary(tmp_path, VAGUE)
    events = Events()
    enhance_error_summary(tmp_path, emit=events)
    assert events == [
        ("error.actionability_scored", {"score": 0, "error_count": 2, "enhanced": True, "iteration": 3})
    ]


def test_enhancing_twice_changes_nothing(tmp_path: Path):
    path = write_summary(tmp_path, VAGUE)
    enhance_error_summary(tmp_path, changed_files=["a.py"])
    once = path.read_bytes()
    enhance_error_summary(tmp_path, changed_files=["a.py"])
    assert path.read_bytes() == once


def test_lines_with_quotes_backslashes_and_newlines_survive(tmp_path: Path):
    nasty = ['say "hi" \\ \' \t end', "ünï☃ \x01"]
    path = write_summary(tmp_path, nasty)
    enhance_error_summary(tmp_path)
    assert load(path)["original_error_lines"] == nasty


def test_writes_are_atomic_no_temporary_file_is_left(tmp_path: Path):
    write_summary(tmp_path, VAGUE)
    enhance_error_summary(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["error-summary.json"]


def test_a_failure_inside_is_told_and_never_raised(tmp_path: Path):
    write_summary(tmp_path, ["src/app.py:2: boom", *VAGUE])
    events = Events()

    def unreadable(_: str) -> str:
        raise PermissionError("no")

    assert enhance_error_summary(tmp_path, source_reader=unreadable, emit=events) is False
    assert events == [("loop.degraded", {"what": "error enrichment", "why": "PermissionError: no"})]


def test_below_45_the_changed_hunk_and_the_source_are_shown(tmp_path: Path):
    path = write_summary(tmp_path, ["FAIL something broke", "app.py:2: boom"])
    diff = "--- a/app.py\n+++ b/app.py\n@@ -1,3 +1,3 @@\n def f():\n-    return 1\n+    return 2\n"
    enhance_error_summary(tmp_path, diff=diff, source_reader=lambda _: "def f():\n    return 2\n")
    shown = load(path)["error_lines"][0]
    assert "+    return 2" in shown
    assert "> 2 |     return 2" in shown


def test_thresholds_are_those_of_the_seed():
    assert (actionability.ENOUGH, actionability.BLIND) == (70, 45)
