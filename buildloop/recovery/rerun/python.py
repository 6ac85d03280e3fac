"""pytest, unittest and Django's runner."""

from __future__ import annotations

import re

from buildloop.diagnosis.model import LogReading
from buildloop.recovery.rerun.runner import Runner, after_dashes, instead_of_paths, last

NODE_ID = re.compile(r"[^-].*\.pyx?(?:::.+)?$")
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*$")
# unittest names a fixture like a test; its class or module is what can be run.
FIXTURE = re.compile(r"\.?(?:setUp|tearDown)(?:Class|Module)$")
PYTEST_VALUED = frozenset(
    "-k -m -n -p -c -o -r -W --maxfail --tb --durations --durations-min --rootdir --confcutdir --junitxml"
    " --junit-xml --junit-prefix --dist --timeout --reruns --reruns-delay --ignore --ignore-glob --deselect"
    " --basetemp --import-mode --color --capture --log-level --log-cli-level --override-ini --pythonwarnings"
    " --numprocesses --maxprocesses --cov-report --cov-config --cov-fail-under --ds --count --html".split()
)
PYTEST_FLAG = re.compile(
    r"-[qvxsl]+$|-r\w+$|-n\w+$|--(?:verbose|quiet|exitfirst|showlocals|strict(?:-markers|-config)?|no-header"
    r"|no-summary|full-trace|lf|ff|nf|last-failed|failed-first|new-first|no-cov|forked|stepwise|sw)$"
)


def node_ids(reading: LogReading) -> tuple[str, ...] | None:
    return reading.failing if all(map(NODE_ID.match, reading.failing)) else None


def patterns(reading: LogReading) -> list[str] | None:
    """`-k` keeps whatever discovery the user asked for; a star in front makes it match whole endings."""
    if not all(map(DOTTED.match, reading.failing)):
        return None
    return [word for test in reading.failing for word in ("-k", _pattern(test))]


def _pattern(test: str) -> str:
    owner, fixtures = FIXTURE.subn("", test)
    return f"{owner}.*" if fixtures else f"*{test}"


RUNNERS = (
    Runner(
        heads=(("pytest",), ("py.test",)),
        tools=frozenset({"pytest"}),
        select=node_ids,
        place=instead_of_paths(PYTEST_VALUED, PYTEST_FLAG),
        taken=frozenset({"--pyargs"}),
    ),
    Runner(
        heads=(("tox",),),
        tools=frozenset({"pytest"}),
        select=node_ids,
        place=after_dashes,
    ),
    Runner(
        heads=(("unittest",), ("manage.py", "test")),
        tools=frozenset({"unittest"}),
        select=patterns,
        place=last,
        taken=frozenset({"-k"}),
    ),
)
