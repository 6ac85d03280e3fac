"""Jest, Vitest, mocha, playwright, ava, node:test, TAP."""

from __future__ import annotations

from buildloop.diagnosis.model import TestCounts
from buildloop.gate.read import read_text

JEST = """\
PASS test/other.test.js
FAIL test/cart.test.js
  Cart
    ✕ multiplies (9 ms)
    ✓ handles errors (1 ms)

  ● Cart › multiplies

    expect(received).toBe(expected) // Object.is equality

    Expected: 6
    Received: 2

    > 5 |     expect(total()).toBe(6);
        |                     ^

      at Object.toBe (test/cart.test.js:5:21)
      at Promise.then.completed (node_modules/jest-circus/build/utils.js:298:28)

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 1 skipped, 3 passed, 5 total
"""


def test_jest_block():
    reading = read_text(JEST, 1)
    finding = reading.findings[0]
    assert (finding.location, finding.expected, finding.actual) == ("test/cart.test.js:5", "6", "2")
    assert reading.failing == ("Cart multiplies",)
    assert reading.counts == TestCounts(run=4, passed=3, failed=1, skipped=1)
    assert not any("✓" in line or line.startswith("PASS") for line in reading.error_lines)


def test_jest_missing_module_is_placed_where_it_is_required():
    reading = read_text(
        """\
FAIL test/s.test.js
  ● Test suite failed to run

    Cannot find module 'axios' from 'src/s.js'

    Require stack:
      src/s.js
      test/s.test.js

      at Resolver._throwModNotFoundError (node_modules/jest-resolve/build/resolver.js:427:11)
      at Object.<anonymous> (src/s.js:1:27)

Test Suites: 1 failed, 1 total
Tests:       0 total
""",
        1,
    )
    assert reading.location == "src/s.js:1"
    assert reading.failing == ()


def test_jest_console_output_is_not_a_failure():
    noisy = JEST.replace(
        "  ● Cart › multiplies",
        "  ● Console\n\n    console.error\n      Error: noise\n\n  ● Cart › multiplies",
    )
    assert read_text(noisy, 1).findings[0].location == "test/cart.test.js:5"


def test_vitest_block():
    reading = read_text(
        """\
⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/sum.test.ts > sum > adds
AssertionError: expected 4 to be 3 // Object.is equality

- Expected
+ Received

- 3
+ 4

 ❯ src/sum.test.ts:6:23
      6|     expect(sum(1, 2)).toBe(3)
       |                       ^

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯

 Test Files  1 failed (1)
      Tests  1 failed | 2 passed (3)
""",
        1,
    )
    finding = reading.findings[0]
    assert (finding.location, finding.expected, finding.actual) == ("src/sum.test.ts:6", "3", "4")
    assert reading.failing == ("src/sum.test.ts > sum > adds",)
    assert reading.counts == TestCounts(run=3, passed=2, failed=1, skipped=0)


def test_mocha_joins_the_levels_of_a_title():
    reading = read_text(
        """\
  api
    ✔ starts
    1) responds


  1 passing (2s)
  1 failing

  1) api
       responds:

      AssertionError: expected 500 to equal 200
      + expected - actual

      -500
      +200

      at Context.<anonymous> (test/api.js:9:14)
      at process.processImmediate (node:internal/timers:483:21)
""",
        1,
    )
    assert reading.failing == ("api responds",)
    assert reading.location == "test/api.js:9"
    assert reading.counts == TestCounts(run=2, passed=1, failed=1, skipped=0)


def test_playwright_block():
    reading = read_text(
        """\
  ✘  1 e2e/login.spec.ts:5:5 › login (30.1s)

  1) e2e/login.spec.ts:5:5 › login ────────────────

    Error: expect(received).toBe(expected)

    Expected: "a"
    Received: "b"

    >  7 |   expect(x).toBe("a");
         |             ^

        at /srv/app/e2e/login.spec.ts:7:33

  1 failed
    e2e/login.spec.ts:5:5 › login ────────────────
""",
        1,
    )
    assert reading.location == "/srv/app/e2e/login.spec.ts:7"
    assert reading.findings[0].tool == "playwright"


def test_node_test_tap_prefers_the_frame_of_the_assertion_to_the_declared_place():
    reading = read_text(
        """\
TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  duration_ms: 6.9
  location: '/srv/nt/a.test.mjs:4:1'
  error: |-
    Expected values to be strictly equal:
  code: 'ERR_ASSERTION'
  name: 'AssertionError'
  expected: 4
  actual: 5
  stack: |-
    TestContext.<anonymous> (file:///srv/nt/a.test.mjs:5:10)
    Test.run (node:internal/test_runner/test:796:25)
  ...
ok 2 - handles errors
# tests 2
# pass 1
# fail 1
""",
        1,
    )
    finding = reading.findings[0]
    assert (finding.location, finding.expected, finding.actual) == ("/srv/nt/a.test.mjs:5", "4", "5")
    assert reading.counts == TestCounts(run=2, passed=1, failed=1, skipped=0)
    assert not any("handles errors" in line for line in reading.error_lines)


def test_node_test_spec_reporter():
    reading = read_text(
        """\
✖ adds (1.2ms)
ℹ tests 1
ℹ pass 0
ℹ fail 1

✖ failing tests:

test at test/calc.test.js:5:3
✖ adds (1.2ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  5 !== 4

      at TestContext.<anonymous> (file:///srv/test/calc.test.js:6:12)
""",
        1,
    )
    assert reading.location == "/srv/test/calc.test.js:6"


def test_ava_section_belongs_to_its_test():
    reading = read_text(
        """\
  ✘ [fail]: adds
  ✔ subtracts
  ─

  adds

  test.js:4

   3: test('adds', t => {
   4:   t.is(add(2, 2), 4);

  Difference (- actual, + expected):

  - 5
  + 4

  › file://test.js:4:5

  ─

  1 test failed
""",
        1,
    )
    assert (reading.location, reading.failing) == ("test.js:4", ("adds",))
