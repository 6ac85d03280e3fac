"""Ruby, PHP, Perl, shell, .NET, and the smaller runners."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.model import TestCounts
from buildloop.gate.read import read_text


def test_rspec_failure_and_load_error():
    reading = read_text(
        """\
Failures:

  1) User#full_name joins names
     Failure/Error: expect(user.full_name).to eq("Ann Lee")

       expected: "Ann Lee"
            got: "AnnLee"

     # ./spec/models/user_spec.rb:12:in `block (3 levels) in <top (required)>'

Finished in 1.23 seconds (files took 2.1 seconds to load)
7 examples, 1 failure

Failed examples:

rspec ./spec/models/user_spec.rb:10 # User#full_name joins names
""",
        1,
    )
    finding = reading.findings[0]
    assert (finding.location, finding.expected, finding.actual) == (
        "spec/models/user_spec.rb:12",
        '"Ann Lee"',
        '"AnnLee"',
    )
    assert reading.failing == ("./spec/models/user_spec.rb:10",)
    load = read_text(
        "An error occurred while loading ./spec/svc_spec.rb.\nFailure/Error: require 'nope'\n\nLoadError:\n"
        "  cannot load such file -- nope\n# ./lib/svc.rb:1:in `<top (required)>'\nNo examples found.\n",
        1,
    )
    assert load.location == "lib/svc.rb:1"


def test_minitest_and_rails():
    plain = (
        "  1) Failure:\nCartTest#test_total [test/cart_test.rb:8]:\nExpected: 6\n  Actual: 2\n\n1 runs, 1 "
        "assertions, 1 failures, 0 errors, 0 skips\n"
    )
    rails = plain.replace("  1) Failure:", "Failure:")
    for log in (plain, rails):
        reading = read_text(log, 1)
        finding = reading.findings[0]
        assert (finding.location, finding.expected, finding.actual) == ("test/cart_test.rb:8", "6", "2")
        assert reading.counts == TestCounts(run=1, passed=0, failed=1, skipped=0)


def test_ruby_program():
    reading = read_text(
        "/srv/lib/app.rb:4:in `require': cannot load such file -- redis (LoadError)\n\tfrom bin/run:3:in "
        "`<main>'\n",
        1,
    )
    assert (reading.location, reading.findings[0].type) == ("/srv/lib/app.rb:4", "LoadError")


def test_rails_says_more_than_that_it_aborted():
    reading = read_text(
        "rails aborted!\nActiveRecord::PendingMigrationError:\n\nMigrations are pending.\n\n"
        "/srv/app/config/environment.rb:5:in `<main>'\n",
        1,
    )
    assert reading.location == "/srv/app/config/environment.rb:5"
    assert reading.error_lines[0] == "ActiveRecord::PendingMigrationError:"


def test_phpunit_and_php():
    reading = read_text(
        "There was 1 failure:\n\n1) CartTest::testTotal\nFailed asserting that 2 is identical to "
        "6.\n\n/srv/tests/CartTest.php:9\n\n"
        "FAILURES!\nTests: 3, Assertions: 3, Failures: 1, Skipped: 1.\n",
        1,
    )
    finding = reading.findings[0]
    assert (finding.location, finding.expected, finding.actual) == ("/srv/tests/CartTest.php:9", "6", "2")
    assert reading.counts == TestCounts(run=2, passed=1, failed=1, skipped=1)
    died = read_text('PHP Parse error:  syntax error, unexpected token ";" in /srv/Cart.php on line 7\n', 255)
    assert died.location == "/srv/Cart.php:7"


def test_perl_test_more_and_die():
    failed = read_text(
        "#   Failed test 'scale'\n#   at t/core.t line 7.\n#          got: '12'\n#     expected: '8'\n", 1
    )
    finding = failed.findings[0]
    assert (finding.location, finding.expected, finding.actual) == ("t/core.t:7", "'8'", "'12'")
    died = read_text(
        "Can't locate Shop/Tax.pm in @INC (you may need to install it) at lib/Shop/Cart.pm line 2.\n", 2
    )
    assert died.location == "lib/Shop/Cart.pm:2"


def test_bats_prefers_the_line_of_the_test_to_that_of_the_library():
    reading = read_text(
        "1..1\nnot ok 1 says hello\n# (from function `assert_output' in file lib/bats-assert/assert.bash, "
        "line 194,\n"
        '#  in test file test/hello.bats, line 6)\n#   `assert_output "hello"\' failed\n# expected : '
        "hello\n# actual   : helo\n",
        1,
    )
    finding = reading.findings[0]
    assert (finding.location, finding.expected, finding.actual) == ("test/hello.bats:6", "hello", "helo")


def test_dotnet_test_build_and_nuget():
    reading = read_text(
        "  Failed Calc.Tests.UnitTest1.Adds [3 ms]\n  Error Message:\n   Assert.Equal() Failure: Values "
        "differ\nExpected: 4\nActual:   5\n"
        "  Stack Trace:\n     at Calc.Tests.UnitTest1.Adds() in /src/Calc.Tests/UnitTest1.cs:line 11\n\n"
        "Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 5 ms - "
        "Calc.Tests.dll\n",
        1,
    )
    finding = reading.findings[0]
    assert (finding.location, finding.expected, finding.actual) == (
        "/src/Calc.Tests/UnitTest1.cs:11",
        "4",
        "5",
    )
    assert reading.counts == TestCounts(run=3, passed=2, failed=1, skipped=0)
    build = read_text(
        "/src/Calc/Program.cs(7,13): error CS0103: The name 'foo' does not exist [/src/Calc/Calc.csproj]\n", 1
    )
    assert build.location == "/src/Calc/Program.cs:7"
    nuget = read_text("/src/Calc/Calc.csproj : error NU1101: Unable to find package Foo.Bar.\n", 1)
    assert nuget.findings[0].tool == "nuget"


@pytest.mark.parametrize(
    ("log", "location", "tool"),
    [
        (
            "  1) test adds (CalcTest)\n     test/calc_test.exs:5\n     Assertion with == failed\n     "
            "left:  5\n     right: 4\n"
            "     stacktrace:\n       test/calc_test.exs:6: (test)\n\nFinished in 0.02 seconds\n2 tests, 1 "
            "failure\n",
            "test/calc_test.exs:6",
            "exunit",
        ),
        (
            "[info] - should add *** FAILED ***\n[info]   5 did not equal 4 (CalcSpec.scala:9)\n",
            "CalcSpec.scala:9",
            "scalatest",
        ),
        (
            "/srv/Tests/CalcTests.swift:8: error: -[CalcTests.CalcTests testAdd] : XCTAssertEqual failed: "
            '("5") is not equal to ("4")\n',
            "/srv/Tests/CalcTests.swift:8",
            "xctest",
        ),
        (
            "FAIL in (add-test) (core_test.clj:22)\nexpected: (= 4 5)\n  actual: (not (= 4 5))\n",
            "core_test.clj:22",
            "clojure",
        ),
        (
            "│ Error: Unsupported argument\n│ \n│   on main.tf line 12, in resource:\n╵\n",
            "main.tf:12",
            "terraform",
        ),
        ("src/Lib.hs:7:10: error:\n    • Couldn't match expected type ‘Int’\n", "src/Lib.hs:7", "gcc"),
    ],
)
def test_smaller_worlds(log: str, location: str, tool: str):
    reading = read_text(log, 1)
    assert (reading.location, reading.findings[0].tool) == (location, tool)
