"""The same tests in another place or form: what is a loss, and what is only another way to say it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from buildloop.workspace.integrity import check
from buildloop.workspace.integrity.counter.call_forms import only_called_differently
from buildloop.workspace.integrity.counter.renames import moved_folders
from buildloop.workspace.integrity.model import Change
from buildloop.workspace.trial import standing_on
from buildloop.workspace.worktree import prepare_worktree
from tests.support.repos import commit_all, git, make_repo, write_files

GO = 'package a\nfunc %s(t *testing.T) {\n\tif got := Count("a b"); got != %s {\n\t\tt.Errorf("got %%d", got)\n\t}\n}\n'
JS = (
    "const { %s } = require('../src/dates');\n\ntest('adds', () => {\n  expect(%s).toBe('2023-02-28');\n});\n"
)


def rules(*changes):
    before, after = check.tests_of(changes, newer=False), check.tests_of(changes, newer=True)
    return {one.rule for one in check.judge_trees(changes, before, after, lambda _: [])}


def gone(name, text):
    return Change("D", name, name, text, None)


def new(name, text):
    return Change("A", name, name, None, text)


def changed(name, before, after):
    return Change("M", name, name, before, after)


def test_a_test_that_moved_under_its_name_and_says_less_is_weakened_not_gone():
    assert rules(gone("a/old_test.go", GO % ("TestCount", "2")), new("a/new_test.go", GO % ("TestCount", "3"))) == {
        "weakened"
    }  # fmt: skip


def test_one_that_only_bears_the_name_of_another_does_not_stand_in_for_it():
    other = GO % ("TestCount", "3")
    kept = changed("b/b_test.go", other, other + "\n")
    assert "gone" in rules(gone("a/old_test.go", GO % ("TestCount", "2")), kept)


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("tests/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef shop():\n    return 3\n", "support"),
        ("test/support/client.js", "module.exports = () => ({ rate: 3 });\n", "support"),
        ("test/totals.js", "assert.equal(total([1, 2]), 3);\n", "gone"),
        ("tests/test_shop.py", "SHOP = 3\n", "gone"),
    ],
)
def test_set_up_may_go_where_tests_may_not(name, text, rule):
    assert rules(gone(name, text)) == {rule}


def moved(old, fresh):
    return Change("R", fresh, old, "x", "x")


def test_a_folder_has_another_name_when_nothing_is_left_in_it():
    both = [moved("tests/test_a.py", "checks/test_b.py"), moved("tests/pages/a.md", "checks/pages/a.md")]
    start = ["tests/test_a.py", "tests/pages/a.md", "a.py"]
    assert moved_folders(both, start) == {"tests": "checks"}
    assert moved_folders(both, [*start, "tests/test_left.py"]) == {}
    assert moved_folders([both[0], moved("tests/pages/a.md", "other/pages/a.md")], start) == {}


@pytest.mark.parametrize(
    ("call", "same"),
    [
        ("add(day('2023-01-31'), { months: 1 })", True),
        ("add(day('2023-01-31'), { months: 2 })", False),
        ("fake(day('2023-01-31'), { months: 1 })", False),
    ],
)
def test_a_renamed_function_may_be_called_in_another_form(call, same):
    product = changed(
        "src/dates.js",
        "function addMonths(date, count) {\n  return 1;\n}\n",
        "function add(date, { months = 0 }) {\n  return 1;\n}\n",
    )
    old = JS % ("addMonths", "addMonths(day('2023-01-31'), 1)")
    more = "\ntest('knows years', () => {\n  expect(add(day('2024-02-29'), { years: 1 })).toBe('x');\n});\n"
    test = changed("test/dates.test.js", old, JS % ("add", call) + more)
    assert only_called_differently([product, test], [test.name], {"addMonths": "add"}) is same


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_other_instructions_build_again(tmp_path, request_for):
    rule = "out: one two\n\tcp %s out\n"
    files = {"Makefile": rule % "one", "one": "1\n", "two": "2\n", ".gitignore": "out\n"}
    workspace = prepare_worktree(request_for(make_repo(tmp_path / "repo", files)))
    root = Path(workspace.root)
    tree = git(root, "rev-parse", "HEAD^{tree}")
    write_files(root, {"Makefile": rule % "two"})
    commit_all(root, "another source")
    for name in ("one", "two"):
        os.utime(root / name, (1, 1))

    def built():
        subprocess.run(["make", "-s"], cwd=root, check=True)
        return (root / "out").read_text()

    assert built() == "2\n"
    with standing_on(workspace, tree, ["Makefile"]):
        assert built() == "1\n"
    assert built() == "2\n"
