"""Java, Kotlin, Scala: compilers, Maven, Gradle, JUnit, stack traces."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.model import TestCounts
from buildloop.gate.read import read_text

SUREFIRE = """\
[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in X
[ERROR] com.acme.AccountTest.withdraws -- Time elapsed: 0.010 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <90> but was: <110>
\tat org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:527)
\tat com.acme.AccountTest.withdraws(AccountTest.java:14)

[ERROR] Failures:
[ERROR]   AccountTest.withdraws:14 expected: <90> but was: <110>
[INFO]
[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0
[ERROR] Failed to execute goal org.apache.maven.surefire on project bank: There are test failures.
"""


def test_surefire_block_in_both_notations():
    older = SUREFIRE.replace("com.acme.AccountTest.withdraws --", "withdraws(com.acme.AccountTest) ")
    for log in (SUREFIRE, older):
        reading = read_text(log, 1)
        finding = reading.findings[0]
        assert (finding.location, finding.expected, finding.actual) == (
            "AccountTest.java:14",
            "<90>",
            "<110>",
        )
        assert reading.failing == ("com.acme.AccountTest#withdraws",)
        assert reading.counts == TestCounts(run=2, passed=1, failed=1, skipped=0)


def test_maven_compiler_and_dependencies():
    compiled = read_text(
        "[ERROR] /srv/src/main/java/com/acme/Account.java:[8,45] cannot find symbol\n  symbol:   method "
        "f()\n",
        1,
    )
    assert compiled.location == "/srv/src/main/java/com/acme/Account.java:8"
    missing = read_text(
        "[ERROR] Failed to execute goal on project bank: Could not resolve dependencies for project x\n", 1
    )
    assert missing.findings[0].tool == "maven"


def test_gradle_test_and_resolution():
    tests = read_text(
        "CalculatorTest > adds() FAILED\n    org.opentest4j.AssertionFailedError at "
        "CalculatorTest.java:14\n\n"
        "3 tests completed, 1 failed\n\n* What went wrong:\nExecution failed for task ':test'.\n> There "
        "were failing tests.\n",
        1,
    )
    assert (tests.location, tests.failing) == ("CalculatorTest.java:14", ("CalculatorTest.adds",))
    assert tests.counts == TestCounts(run=3, passed=2, failed=1, skipped=0)
    resolve = read_text(
        "* What went wrong:\nExecution failed for task ':compileJava'.\n> Could not resolve all files.\n"
        "   > Could not find com.acme:nope:9.9.\n\n* Try:\n",
        1,
    )
    assert resolve.error_lines[0].strip() == "> Could not find com.acme:nope:9.9."


def test_java_root_cause_is_the_last_caused_by():
    reading = read_text(
        'Exception in thread "main" java.lang.IllegalStateException: could not start\n'
        "\tat com.acme.Main.main(Main.java:8)\n"
        "Caused by: java.io.FileNotFoundException: app.yml (No such file or directory)\n"
        "\tat java.base/java.io.FileInputStream.open0(Native Method)\n"
        "\tat com.acme.Config.load(Config.java:31)\n"
        "\t... 1 more\n",
        1,
    )
    assert (reading.location, reading.findings[0].type) == ("Config.java:31", "FileNotFoundException")


@pytest.mark.parametrize(
    ("line", "location"),
    [
        ("A.java:3: error: ';' expected", "A.java:3"),
        ("e: file:///srv/app/Main.kt:12:17 Unresolved reference: foo", "/srv/app/Main.kt:12"),
        ("e: /srv/app/Main.kt: (12, 17): Unresolved reference: foo", "/srv/app/Main.kt:12"),
        ("[error] /srv/src/Calc.scala:5:22: type mismatch;", "/srv/src/Calc.scala:5"),
        ("    [javac] /srv/src/Calc.java:7: error: incompatible types", "/srv/src/Calc.java:7"),
    ],
)
def test_jvm_compilers(line: str, location: str):
    assert read_text(line + "\n", 1).location == location


def test_ant_junit():
    reading = read_text(
        "    [junit] Testsuite: com.acme.CalcTest\n    [junit] Testcase: testAdd took 0.003 sec\n    "
        "[junit] \tFAILED\n"
        "    [junit] junit.framework.AssertionFailedError: expected:<4> but was:<5>\n"
        "    [junit] \tat com.acme.CalcTest.testAdd(CalcTest.java:14)\n",
        1,
    )
    assert (reading.location, reading.failing) == ("CalcTest.java:14", ("com.acme.CalcTest.testAdd",))


def test_spock_condition_under_gradle():
    reading = read_text(
        "CartSpec > totals FAILED\n    Condition not satisfied:\n\n    cart.total() == 6\n    |    |\n    "
        "|    2\n"
        "        at CartSpec.totals(CartSpec.groovy:14)\n",
        1,
    )
    assert reading.location == "CartSpec.groovy:14"
