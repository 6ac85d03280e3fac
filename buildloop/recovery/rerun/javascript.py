"""jest, vitest, mocha, AVA and node's own runner, also behind a package script."""

from __future__ import annotations

import re

from buildloop.diagnosis.model import LogReading
from buildloop.recovery.rerun.runner import Place, Runner, after_dashes, escaped, exactly, first, last

TEST_FILE = re.compile(r"[^-].*\.(?:test|spec)\.[cm]?[jt]sx?$")
VITEST_ID = re.compile(r"(?P<file>[^-]\S*\.[cm]?[jt]sx?) > (?P<name>.+)$")
HOOK = re.compile(r'(?P<suite>.*?) ?"(?:before|after) (?:all|each)" hook.*? (?:for|in) "(?P<test>.*)"$')
TAP_ESCAPE = re.compile(r"\\([\\#])")


def jest(reading: LogReading) -> list[str]:
    """By name; by path as well where every failure was seen in a test file, so that no other file is loaded."""
    seen = {finding.file or "" for finding in reading.findings if finding.test}
    by_path = ["--runTestsByPath", *sorted(seen)] if seen and all(map(TEST_FILE.match, seen)) else []
    return ["-t", exactly(reading.failing), *by_path]


def jest_in_script(reading: LogReading) -> list[str]:
    """The script may hold patterns of its own, which `--runTestsByPath` would take for paths."""
    return ["-t", exactly(reading.failing)]


def vitest(reading: LogReading) -> list[str] | None:
    found = [VITEST_ID.match(test) for test in reading.failing]
    named = [match for match in found if match]
    if len(named) < len(found):
        return None
    names = [match["name"].replace(" > ", " ") for match in named]
    return ["-t", exactly(names), *sorted({match["file"] for match in named})]


def mocha(reading: LogReading) -> list[str] | None:
    """A hook is run by running the test that it was to serve; a hook without one cannot be asked for."""
    titles = []
    for test in reading.failing:
        hook = HOOK.match(test)
        if '" hook' in test and not hook:
            return None
        titles.append(f"{hook['suite']} {hook['test']}".strip() if hook else test)
    return ["-g", exactly(titles)]


def ava(reading: LogReading) -> list[str]:
    """AVA puts the file before the title when there are several; a title may hold the same sign.

    Its `*` matches anything, itself included; a leading `!` would mean "all but".
    """
    endings = [
        " › ".join(parts[start:])
        for parts in (test.split(" › ") for test in reading.failing)
        for start in range(len(parts))
    ]
    return [f"--match={re.sub('^!', '*', title)}" for title in dict.fromkeys(endings)]


def node_test(reading: LogReading) -> list[str]:
    """Only the innermost names: a suite that is asked for by name runs everything in it."""
    innermost = [f.test for f in reading.findings if f.test in reading.failing and f.type != "subtestsFailed"]
    names = dict.fromkeys(TAP_ESCAPE.sub(r"\1", test) for test in innermost if test)
    return [f"--test-name-pattern=^{escaped(name)}$" for name in names]


RUNNERS = (
    Runner(
        (("jest",), ("jest.js",)), frozenset({"jest"}), jest, first, frozenset({"-t", "--testNamePattern"})
    ),
    Runner(
        (("vitest", "run"), ("vitest",)),
        frozenset({"vitest"}),
        vitest,
        last,
        frozenset({"-t", "--testNamePattern"}),
    ),
    Runner(
        (("mocha",),),
        frozenset({"mocha"}),
        mocha,
        first,
        frozenset({"-g", "--grep", "-f", "--fgrep", "-i", "--invert"}),
    ),
    Runner((("ava",),), frozenset({"ava", "tap"}), ava, first, frozenset({"-m", "--match"})),
    Runner(
        (("node", "--test"),),
        frozenset({"tap", "node:test"}),
        node_test,
        first,
        frozenset({"--test-name-pattern"}),
    ),
)

# Which runner a script starts can only be seen from its log.
SCRIPT_RUNNERS = (
    Runner((), frozenset({"jest"}), jest_in_script, last),
    Runner((), frozenset({"vitest"}), vitest, last),
    Runner((), frozenset({"mocha"}), mocha, last),
    Runner((), frozenset({"ava"}), ava, last),
)
SCRIPTS: tuple[tuple[tuple[str, ...], Place], ...] = (
    (("npm", "test"), after_dashes),
    (("npm", "t"), after_dashes),
    (("npm", "run", "*"), after_dashes),
    (("pnpm", "test"), last),
    (("pnpm", "run", "*"), last),
    (("yarn", "test"), last),
    (("yarn", "run", "*"), last),
)
