"""A small red project of a real test runner, and how it turns green."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass, field
from pathlib import Path

# The tests have a home of their own; toolchains live in the real one.
HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)


@dataclass(frozen=True)
class Project:
    """`runs` is how many tests the narrowed command may run: the failing ones, unless the runner cannot do it."""

    tool: str
    command: str
    files: dict[str, str]
    failing: set[str]
    runs: int
    setup: str = "true"
    also: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    needs: tuple[Path, ...] = ()


CURES = {
    "1, 2)": "1, 1)",
    "1, 2;": "1, 1;",
    "assert 1 == 2": "assert 1 == 1",
    'name == "fine"': "name",
    'raise RuntimeError("no database")': "pass",
    "expect(1).toBe(2)": "",
    "throw new Error('boom')": "",
    "throw new Error('x')": "",
    't.Error("wrong")': "",
    "COMMAND false": "COMMAND true",
    "false;": "true;",
    "is(1, 2,": "is(1, 1,",
    "eq 2": "eq 1",
    "assertEquals(1, n)": "assertEquals(n, n)",
    "assertSame(1, $row)": "assertSame($row, $row)",
}
