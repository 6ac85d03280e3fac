"""go test, cargo test, nextest, ctest and bats."""

from __future__ import annotations

import re

from buildloop.diagnosis.model import LogReading
from buildloop.recovery.rerun.runner import Runner, after_dashes, escaped, exactly, first

RUST_PATH = re.compile(r"\w+(?:::\w+)*$")
BATS_TIME = re.compile(r" in \d+ms$")


def go_test(reading: LogReading) -> list[str]:
    """Fresh and told in full: a cached or a silent run proves nothing."""
    return ["-count=1", "-v", "-run", go_pattern(reading.failing)]


def go_pattern(failing: tuple[str, ...]) -> str:
    """One expression a level. Levels multiply, so subtests are named only where all failures have as many;
    otherwise the whole tests run."""
    parents = {test.rpartition("/")[0] for test in failing}
    paths = [test.split("/") for test in failing if test not in parents]
    depth = 1 if len({len(path) for path in paths}) > 1 else len(paths[0])
    levels = [dict.fromkeys(escaped(path[level]) for path in paths) for level in range(depth)]
    return "/".join(f"^({'|'.join(names)})$" for names in levels)


def cargo_test(reading: LogReading) -> list[str] | None:
    """Documentation tests have a place, not a name."""
    if not all(map(RUST_PATH.match, reading.failing)):
        return None
    return ["--exact", *reading.failing]


def nextest(reading: LogReading) -> list[str] | None:
    """The log says `crate::binary module::test`."""
    names = dict.fromkeys(test.split()[-1] for test in reading.failing)
    if not all(map(RUST_PATH.match, names)):
        return None
    return ["-E", " | ".join(f"test(={name})" for name in names)]


def ctest(reading: LogReading) -> list[str]:
    return ["--no-tests=error", "-R", exactly(reading.failing, group="(")]


def bats(reading: LogReading) -> list[str]:
    names = [BATS_TIME.sub("", test) for test in reading.failing]
    return ["-f", exactly(names, group="(")]


RUNNERS = (
    Runner((("go", "test"),), frozenset({"go test"}), go_test, first, frozenset({"-run", "-skip", "-list"})),
    Runner((("cargo", "test"), ("cargo", "t")), frozenset({"cargo test"}), cargo_test, after_dashes),
    Runner(
        (("cargo", "nextest", "run"), ("cargo", "nextest", "r")),
        frozenset({"cargo test"}),
        nextest,
        first,
        frozenset({"-E", "--filter-expr", "--filterset"}),
    ),
    Runner(
        (("ctest",),),
        frozenset({"ctest"}),
        ctest,
        first,
        frozenset({"-R", "--tests-regex", "-I", "--rerun-failed"}),
        lists_all=True,
    ),
    Runner((("bats",),), frozenset({"tap"}), bats, first, frozenset({"-f", "--filter", "--filter-status"})),
)
