"""Which changes leave the code the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.diagnosis.history import code_versions
from buildloop.diagnosis.relevance import may_matter
from tests.diagnosis.builders import CODE_DIFF, COMMENT_DIFF, DOCS_DIFF, green, red


def change(path: str, *lines: str) -> str:
    return "\n".join([f"--- a/{path}", f"+++ b/{path}", "@@ -1,0 +1,9 @@", *lines])


@pytest.mark.parametrize(
    "diff",
    [
        DOCS_DIFF,
        COMMENT_DIFF,
        change("docs/guide.rst", "+words"),
        change("LICENSE", "+words"),
        change("src/a.rs", "+// words", "+", "-/* more", "+ * words", "+*/"),
        change("t/core.t", "+# words"),
        DOCS_DIFF + COMMENT_DIFF,
        "",
    ],
)
def test_prose_and_comments_leave_the_code_the_same(diff):
    assert not may_matter(diff)


@pytest.mark.parametrize(
    "diff",
    [
        CODE_DIFF,
        DOCS_DIFF + CODE_DIFF,
        change("requirements.txt", "+requests"),
        change("CMakeLists.txt", "+add_test(a)"),
        change("a.py", "+import os  # noqa: F401"),
        change("a.py", "+# type: ignore"),
        change("a.go", "+//go:build linux"),
        change("src/lib.rs", "+/// assert_eq!(1, 2);"),
        change("main.c", "+#include <stdio.h>"),
        change("run.sh", "+#!/bin/sh"),
        change("data.bin", "+# looks like a comment"),
        "diff --git a/a.png b/a.png\nBinary files a/a.png and b/a.png differ",
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755",
        "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py",
        "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1",
    ],
)
def test_everything_else_may_matter(diff):
    assert may_matter(diff)


def test_the_same_tree_and_harmless_changes_are_one_version():
    history = [
        green("A"),
        red("a", tree="B", diff=DOCS_DIFF),
        red("a", tree="C", diff=CODE_DIFF),
        green("A", diff=CODE_DIFF),
        red("a", changed=False),
    ]
    assert code_versions(history) == [0, 0, 1, 0, 0]


@given(st.text())
def test_any_diff_can_be_judged(diff):
    assert may_matter(diff) in (True, False)
