"""rustc, cargo test, nextest, go build, go test."""

from __future__ import annotations

from buildloop.diagnosis.model import TestCounts
from buildloop.gate.read import read_text


def test_rustc_gives_code_arrow_and_label_and_puts_the_echo_last():
    reading = read_text(
        """\
   Compiling inv v0.1.0 (/srv/inv)
warning: unused variable: `x`
 --> src/lib.rs:3:9
  |
3 |     let x = 5;
  |         ^

error[E0308]: mismatched types
 --> src/lib.rs:7:5
  |
7 |     "a"
  |     ^^^ expected `u32`, found `&str`

For more information about this error, try `rustc --explain E0308`.
error: could not compile `inv` (lib test) due to 1 previous error
""",
        101,
    )
    assert (reading.location, reading.findings[0].type) == ("src/lib.rs:7", "E0308")
    assert reading.error_lines[-1].startswith("error: could not compile")
    assert not any("For more information" in line for line in reading.error_lines)


def test_cargo_test_panic_in_new_and_old_notation():
    new = """\
running 2 tests
test tests::ok ... ok
test tests::adds ... FAILED

failures:

---- tests::adds stdout ----
thread 'tests::adds' panicked at src/lib.rs:13:9:
assertion `left == right` failed
  left: 5
 right: 4
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.09s
"""
    reading = read_text(new, 101)
    finding = reading.findings[0]
    assert (finding.location, finding.expected, finding.actual) == ("src/lib.rs:13", "4", "5")
    assert reading.failing == ("tests::adds",)
    assert reading.counts == TestCounts(run=2, passed=1, failed=1, skipped=0)
    old = "thread 'tests::adds' panicked at 'boom', src/lib.rs:13:9\n"
    assert read_text(old, 101).findings[0].message == "boom"


def test_nextest_counts_once_and_names_binary_and_test():
    reading = read_text(
        """\
        FAIL [   0.005s] calc tests::adds
--- STDERR:              calc tests::adds ---
thread 'tests::adds' panicked at src/lib.rs:22:9:
boom
test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s
     Summary [   0.006s] 2/3 tests run: 1 passed, 1 failed, 0 skipped
        FAIL [   0.005s] calc tests::adds
error: test run failed
""",
        100,
    )
    assert reading.counts == TestCounts(run=2, passed=1, failed=1, skipped=0)
    assert reading.failing == ("calc tests::adds",)


def test_go_test_line_is_the_cause_and_the_package_line_is_not():
    reading = read_text(
        """\
--- FAIL: TestTable (0.00s)
    --- FAIL: TestTable/negative (0.00s)
        table_test.go:22: Abs(-1) = -1; want 1
FAIL
FAIL\texample.com/abs\t0.003s
FAIL
""",
        1,
    )
    assert reading.error_lines[0].strip() == "table_test.go:22: Abs(-1) = -1; want 1"
    assert reading.location == "table_test.go:22"
    assert "TestTable/negative" in reading.failing
    assert (reading.findings[0].expected, reading.findings[0].actual) == ("1", "-1")


def test_go_test_verbose_and_testify():
    reading = read_text(
        """\
=== RUN   TestTotal
    cart_test.go:14:
        \tError Trace:\t/srv/cart/cart_test.go:14
        \tError:      \tNot equal:
        \t            \texpected: 6
        \t            \tactual  : 2
--- FAIL: TestTotal (0.00s)
FAIL
""",
        1,
    )
    finding = reading.findings[0]
    assert (finding.location, finding.expected, finding.actual) == ("/srv/cart/cart_test.go:14", "6", "2")


def test_go_panic_and_timeout_point_at_our_goroutine():
    reading = read_text(
        """\
panic: test timed out after 3s

goroutine 17 [running]:
testing.(*M).startAlarm.func1()
\t/usr/lib/go-1.19/src/testing/testing.go:2036 +0x8e

goroutine 6 [chan receive]:
example.com/inv.Total(...)
\t/srv/inv/inv.go:11
example.com/inv.TestTotal(0xc00009c000)
\t/srv/inv/inv_test.go:6 +0x71
FAIL\texample.com/inv\t3.008s
""",
        1,
    )
    assert (reading.location, reading.findings[0].type) == ("/srv/inv/inv.go:11", "timeout")


def test_go_build_and_modules():
    assert (
        read_text("# example.com/inv\n./inv.go:14:9: cannot use x as int value\n", 2).location == "inv.go:14"
    )
    module = read_text("go: github.com/google/uuid@v1.3.0: missing go.sum entry for go.mod file\n", 1)
    assert module.findings[0].tool == "go mod"


def test_a_panic_in_a_registry_crate_is_no_place_of_ours():
    reading = read_text(
        "thread 'main' panicked at /home/x/.cargo/registry/src/index/openssl-sys-0.9/build/find.rs:190:5:\n"
        "no OpenSSL\n",
        101,
    )
    assert reading.location is None


def test_doctest_panic_is_one_finding():
    reading = read_text(
        "test src/lib.rs - two (line 1) ... FAILED\n\nfailures:\n\n---- src/lib.rs - two (line 1) stdout "
        "----\n"
        "Test executable failed (exit status: 101).\n\nstderr:\n\nthread 'main' panicked at "
        "src/lib.rs:5:1:\nboom\n\n",
        101,
    )
    assert [finding.message for finding in reading.findings] == ["boom"]


def test_go_test_json_is_read_like_its_text():
    event = (
        '{"Time":"2024-01-05T10:12:01Z","Action":"output","Package":"x","Test":"TestA","Output":"%s\\n"}\n'
    )
    log = "".join(
        event % line for line in ("    a_test.go:5: got 1, want 2", "--- FAIL: TestA (0.00s)", "FAIL")
    )
    reading = read_text(log, 1)
    assert (reading.location, reading.failing) == ("a_test.go:5", ("TestA",))
