"""Short ways to write histories."""

from __future__ import annotations

from buildloop.diagnosis.model import Attempt, Finding, LogReading
from buildloop.diagnosis.observe import observe_text

CODE_DIFF = "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -1 +1 @@\n-    return 1\n+    return 2\n"
DOCS_DIFF = "--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n # shop\n+more words\n"
COMMENT_DIFF = "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -1,0 +1,2 @@\n+# try again\n+\n"


def reading(*tests: str, message: str = "assert 1 == 2") -> LogReading:
    findings = tuple(Finding(message, test=test, type="AssertionError", file="t.py") for test in tests)
    return LogReading(findings, failing=tests, error_lines=tuple(f"{test}: {message}" for test in tests))


def red(*tests: str, message: str = "assert 1 == 2", **more: object) -> Attempt:
    return Attempt(False, reading(*tests, message=message), **more)


def green(tree: str | None = None, diff: str = "", changed: bool | None = None) -> Attempt:
    return Attempt(True, tree=tree, diff=diff, changed=changed)


def log(text: str, exit_code: int | None = 1, **more: object) -> list[Attempt]:
    return [Attempt(False, observe_text(text, exit_code), exit_code=exit_code, **more)]
