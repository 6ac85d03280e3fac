"""Places in lines, excerpts of source, hunks of diffs."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.excerpts import Located, changed_hunk, locate, source_excerpt


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("at src/app.ts:42:7", Located("src/app.ts", 42)),
        ("src/a.ts(2,26): error", Located("src/a.ts", 2)),
        ('  File "/srv/a.py", line 7, in f', Located("/srv/a.py", 7)),
        ("died at t/a.t line 3.", Located("t/a.t", 3)),
        ("GET https://example.com:443/a.js", None),
        ("nothing here", None),
    ],
)
def test_locate(line: str, place: Located | None):
    assert locate(line) == place


def test_excerpt_marks_the_line_and_stops_at_the_ends():
    assert source_excerpt("a\nb\nc", Located("x.py", 1), context=1) == "  x.py:1\n> 1 | a\n  2 | b"
    assert source_excerpt("a", Located("x.py", 9)) is None


DIFF = """\
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@
-old
+new
@@ -20,2 +20,3 @@
 x
+y
diff --git a/b.py b/b.py
--- a/b.py
+++ b/b.py
@@ -1 +1 @@
-p
+q
"""


def test_hunk_that_touches_the_place_is_chosen():
    hunk = changed_hunk(DIFF, Located("/srv/a.py", 21))
    assert hunk is not None
    assert "+y" in hunk
    assert "+new" not in hunk


def test_other_files_have_no_hunk():
    assert changed_hunk(DIFF, Located("c.py", 1)) is None
