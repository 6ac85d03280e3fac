"""RSpec, Minitest, PHPUnit and prove."""

from __future__ import annotations

import re
import shlex

from buildloop.diagnosis.model import LogReading
from buildloop.recovery.rerun.runner import Runner, escaped, exactly, first, instead_of_paths, last

RSPEC_PLACE = re.compile(r"\.?/?[^-].*(?::\d+|\[[\d:,]+\])$")
MINITEST_ID = re.compile(r"[\w:]+#(?P<own>\S+)$|(?P<unit>\w+)\(\w+\)$")
PHPUNIT_ID = re.compile(r"[\w\\]+::\w+$")
RSPEC_VALUED = frozenset(
    "-I -r --require -O --options --order --seed -f --format -o --out -t --tag -P --pattern"
    " --exclude-pattern --failure-exit-code".split()
)
RSPEC_FLAG = re.compile(r"-[cbw]+$|--(?:(?:no-)?color|(?:no-)?fail-fast|backtrace|warnings|force-color)$")
PROVE_VALUED = frozenset({"-I", "-j", "--jobs", "-e", "--exec", "--formatter", "--ext", "--rc", "-M", "-P"})
PROVE_FLAG = re.compile(
    r"-[vlbrsqQpfDmotTwW]+$|-[jI].+$|--(?:verbose|lib|blib|recurse|shuffle|quiet|failures|comments|merge"
    r"|timer|trap|color|nocolor)$"
)


def rspec(reading: LogReading) -> tuple[str, ...] | None:
    return reading.failing if all(map(RSPEC_PLACE.match, reading.failing)) else None


def minitest(reading: LogReading) -> list[str] | None:
    pattern = _minitest_pattern(reading)
    return ["-n", pattern] if pattern else None


def rake(reading: LogReading) -> list[str] | None:
    """rake hands TESTOPTS to a shell of its own: what is data there is quoted for that one too."""
    pattern = _minitest_pattern(reading)
    return [f"TESTOPTS=--name={shlex.quote(pattern)}"] if pattern else None


def _minitest_pattern(reading: LogReading) -> str | None:
    """Minitest knows `Class#test`; test-unit only the method."""
    found = [MINITEST_ID.match(test) for test in reading.failing]
    if not all(found):
        return None
    return f"/{exactly([match['unit'] or match[0] for match in found if match])}/"


def phpunit(reading: LogReading) -> list[str] | None:
    if not all(map(PHPUNIT_ID.match, reading.failing)):
        return None
    names = "|".join(map(escaped, reading.failing))
    return ["--filter", f"/^(?:{names})(?: with data set .*)?$/"]


def prove(reading: LogReading) -> list[str] | None:
    """prove runs files; the names of single tests in them are of no use to it."""
    return [test for test in reading.failing if test.endswith(".t") and not test.startswith("-")] or None


RUNNERS = (
    Runner(
        (("rspec",),),
        frozenset({"rspec"}),
        rspec,
        instead_of_paths(RSPEC_VALUED, RSPEC_FLAG),
        frozenset({"-e", "--example", "--example-matches", "--only-failures", "--next-failure"}),
    ),
    Runner(
        (("rails", "test"), ("ruby",)), frozenset({"minitest"}), minitest, last, frozenset({"-n", "--name"})
    ),
    Runner((("rake", "test"),), frozenset({"minitest"}), rake, last, frozenset({"TESTOPTS"})),
    Runner(
        (("phpunit",), ("phpunit.phar",)), frozenset({"phpunit"}), phpunit, first, frozenset({"--filter"})
    ),
    Runner(
        (("prove",),),
        frozenset({"test more", "perl", "tap"}),
        prove,
        instead_of_paths(PROVE_VALUED, PROVE_FLAG),
        frozenset({"::", "--state"}),
    ),
)
