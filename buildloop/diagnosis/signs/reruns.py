"""How runners report one test, one run, and a retry that passed."""

from __future__ import annotations

import re

from buildloop.patterns import Regex, regexes

# The runner itself says that a retry passed.
STATED_FLAKY = regexes(
    r"\s*[1-9]\d* flaky$",  # playwright
    r"\s*FLAKY \d+/\d+ \[",  # nextest
    r".*\d passed \([1-9]\d* flaky\b",  # nextest
    r"(?:\[\w+\]\s*)?Flakes:\s*$",  # surefire
    r".*\bTests run: \d.*\bFlakes: [1-9]",  # surefire
    r"//\S+\s+FLAKY, failed in \d+ out of \d+",  # bazel
    r"\s*[✓√✔] .*\((?:retry|retries) ?[x#]?[1-9]\d*\)",  # vitest, playwright
    r".*\bpassed \d+ out of the required \d+ times\. Success!",  # flaky (pytest, nose)
    r".*\bPASS\b.*\(re-run [1-9]\d*\)",  # gotestsum
)
# One line per test and outcome, under a name that is unique within its scope.
TEST_OUTCOMES = regexes(
    r"(?P<test>\S+::\S.*?) (?:(?P<pass>PASSED|XPASS)|(?P<fail>FAILED|ERROR"
    r"|RERUN))(?: +\[ *\d+%\])?$",  # pytest -v
    r"(?:\[gw\d+\] )(?:\[ *\d+%\] )?(?:(?P<pass>PASSED)|(?P<fail>FAILED|ERROR"
    r"|RERUN)) (?P<test>\S+::\S.*?) *$",  # xdist
    r"test (?P<test>\S+(?: - should panic)?) \.\.\. (?:(?P<pass>ok)|(?P<fail>FAILED))$",  # cargo
    r"(?P<test>\w+ \([\w.]+\)) \.\.\. (?:(?P<pass>ok)|(?P<fail>FAIL|ERROR))$",  # unittest -v
    r"\s*(?:\d+/\d+ )?Test +#(?P<test>\d+: \S+) [ .]*(?:(?P<pass>Passed)|\*\*\*(?P<fail>Failed|Exception"
    r"|Timeout))",  # ctest
    r"(?P<test>[\w.$]+ > .+?) (?:(?P<pass>PASSED)|(?P<fail>FAILED))$",  # gradle
    r"\s*(?:(?P<pass>[✓✔])|(?P<fail>[✘✗]))\s+\d+ (?P<test>.*?\S+:\d+:\d+ › .*?)(?: \(retry #\d+\))?(?: "
    r"\([\d.]+m?s\))?$",
    r"\s*(?:TRY \d+ )?(?:(?P<pass>PASS)|(?P<fail>FAIL)) \[ *[\d.]+s\](?: \([^)]*\))? +(?P<test>\S+ "
    r"\S+)",  # nextest
    r"(?:(?P<pass>ok)|(?P<fail>not ok)) (?P<test>\d+ (?:- )?[^#\s].*?)(?: # (?!TODO|SKIP|skip|todo).*"
    r"| in \d+ms)?$",  # TAP
    r"\s*Test Case '(?P<test>-?\[?[\w. ]+\]?)' (?:(?P<pass>passed)|(?P<fail>failed)) \(",  # xctest
    r"\s*(?:(?P<pass>Passed)|(?P<fail>Failed)) (?P<test>[\w.]+\.\w+(?:\(.*\))?) \[[^\]]*m?s\]$",  # dotnet
    r"\s*\[ +(?:(?P<pass>OK)|(?P<fail>FAILED)) +\] (?P<test>\w\S*\.\S+)(?:,.*)? \(\d+ ms\)$",  # googletest
)
# Go names the package only after its tests.
GO_TEST = Regex(r"\s*--- (?:(?P<pass>PASS)|(?P<fail>FAIL)): (?P<test>\S+) \(")
GO_PACKAGE = Regex(r"(?:(?P<pass>ok)|(?P<fail>FAIL))\s+(?P<test>\S+)\s+[\d.]+s$")
# pytest-repeat numbers the repetitions of one test.
REPETITION = Regex(r"\[\d+-\d+\]$")
# jest and cypress print the failed tries under the test's name, and a tick when a later one passed.
RETRIED = Regex(r"\s*(?:LOGGING RETRY ERRORS +|\(Attempt \d+ of \d+\) )(?P<test>.+?)\s*$")
TICKED = Regex(r"\s*[✓√✔] (?P<test>.+?)(?: \([\d.]+ ?m?s\))?\s*$")
# What makes the same test name another test: another package, file, binary, interpreter, task or command.
SCOPES = regexes(
    r"\s*Running (?:unittests )?(?P<scope>\S+) \(",
    r"\s*(?P<scope>Doc-tests \S+)",
    r"(?:PASS|FAIL) (?P<scope>\S+\.\w+)",
    r"(?P<scope>platform \S+ -- Python [\d.]+)",
    r"nox > (?P<scope>Running session \S+)",
    r"(?P<scope>[\w.-]+)(?: run-test)?: commands(?:\[\d+\])?[> ]",
    r"(?P<scope>> Task :\S+)",
    r"(?P<scope>Test run for .*)",
    r"(?P<scope>\S+\.t) \.+\s*$",
    r"(?P<scope>[+$] \S.*)",
    r"(?P<scope>> \S+@\S+ .*)",
    r"(?P<scope>(?:##\[group\])?Run \S.*)",
    r"make(?:\[\d+\])?: (?P<scope>Entering directory .*)",
    r"(?P<scope>\[INFO\] Building \S+ .*)",
)
# A line that only counts runs: `=== run 3`, `attempt 2 of 5`.
SEPARATOR = Regex(
    r"\W*(?:test )?(?:run|attempt|try|iteration|round|retry|repeat|repetition)\s*#?:?\s*\d+\b(?:\s*(?:of"
    r"|/)\s*\d+)?"
    r"\W*(?:\([\w ,.-]{0,40}\))?\W*$",
    re.I,
)
EXIT = Regex(r"\W*(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|rc|status)[ :=]+(?P<code>\d+)\W*$", re.I)
# How each runner sums up a run.
RUN_SUMMARIES = regexes(
    r"=*\s*(?:(?P<fail>\d+ (?:failed|errors?)\b.*)|(?P<pass>\d+ passed\b(?!.*(?:failed"
    r"|error)).*)) in [\d.]+s\b.*$",  # pytest
    r"(?:(?P<pass>OK)|(?P<fail>FAILED))(?: \((?:failures|errors|skipped|expected).*\))?$",  # unittest
    r"test result: (?:(?P<pass>ok)|(?P<fail>FAILED))\. \d+ passed; \d+ failed",  # cargo
    r"Tests: +(?:(?P<fail>\d+ failed, .*)|(?P<pass>(?:\d+ \w+, )*\d+ passed, \d+ total))",  # jest
    r"\s*Tests +(?:(?P<fail>\d+ failed\b.*)|(?P<pass>\d+ passed.*)) \(\d+\)",  # vitest
    r"\d+ (?:examples?|tests?), (?:(?P<pass>0 failures)|(?P<fail>\d+ failures?))",  # rspec, bats
    r"\d+ (?:runs|tests), \d+ assertions, (?:(?P<pass>0 failures, 0 errors)"
    r"|(?P<fail>\d+ failures, \d+ errors))",  # minitest
    r"[#ℹ] fail (?:(?P<pass>0)|(?P<fail>\d+))$",  # node:test
    r"Result: (?:(?P<pass>PASS)|(?P<fail>FAIL))$",  # prove
    r"(?:(?P<pass>OK) \(\d+ tests?|(?P<fail>Tests): \d+, Assertions: \d+, (?:Errors|Failures))",  # phpunit
    r"\d+% tests passed, (?:(?P<pass>0)|(?P<fail>\d+)) tests failed out of \d+",  # ctest
    r"(?:\[\w+\]\s*)?Tests run: \d+, +(?:(?P<pass>Failures: 0, +Errors: 0)"
    r"|(?P<fail>Failures: \d+, +Errors: \d+))(?:, +Skipped: \d+)?$",
    r"\s*(?:(?P<pass>Passed)|(?P<fail>Failed))!\s+- Failed: +\d+, Passed: +\d+",  # dotnet
)
TOTAL_BEFORE = Regex(r"(?:Ran|[#ℹ] tests|Files=\d+, Tests=) ?(?P<total>\d+)\b")
TOTAL_WITHIN = Regex(
    r"(\d+) total|out of (\d+)|Total: +(\d+)|\((\d+)\)$|^(\d+) (?:examples?|runs|tests?)\b|(?:OK \(|Tests: "
    r"|Tests run: )(\d+)"
)
COUNTED = Regex(r"(\d+) (?:passed|failed|errors?)\b")
