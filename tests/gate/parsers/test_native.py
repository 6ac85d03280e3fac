"""Rust, Go, C and C++, make, cmake, sanitizers."""

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


def test_gcc_error_before_the_echoes_of_make():
    reading = read_text(
        """\
gcc -c main.c
main.c:5:3: error: 'foo' undeclared (first use in this function)
    5 |   foo();
      |   ^~~
make: *** [Makefile:3: main.o] Error 1
""",
        2,
    )
    assert reading.location == "main.c:5"
    assert reading.error_lines[-1] == "make: *** [Makefile:3: main.o] Error 1"


def test_gcc_error_in_a_template_is_placed_where_it_is_used():
    reading = read_text(
        """\
/usr/include/c++/12/bits/stl_algo.h: In instantiation of 'void std::sort(_RAIter, _RAIter)':
main.cpp:8:12:   required from here
/usr/include/c++/12/bits/stl_algo.h:1938:50: error: no match for 'operator-'
""",
        1,
    )
    assert reading.location == "main.cpp:8"


def test_linker_names_what_is_missing():
    reading = read_text(
        "main.c:(.text+0xf): undefined reference to `add'\ncollect2: error: ld returned 1 exit status\n", 1
    )
    assert reading.error_lines[0] == "main.c:(.text+0xf): undefined reference to `add'"


def test_make_missing_command_and_crash():
    assert read_text("make: protoc: No such file or directory\n", 2).findings[0].tool == "make"
    crash = read_text("make: *** [Makefile:9: test] Segmentation fault\n", 2)
    assert crash.findings[0].type == "Signal"


def test_cmake_says_what_is_missing_and_where():
    reading = read_text(
        """\
CMake Error at CMakeLists.txt:4 (find_package):
  By not providing "Findfmt.cmake" in CMAKE_MODULE_PATH this project has
  asked CMake to find a package configuration file provided by "fmt".

  Could not find a package configuration file provided by "fmt"

-- Configuring incomplete, errors occurred!
""",
        1,
    )
    assert reading.location == "CMakeLists.txt:4"
    assert any("Could not find a package" in line for line in reading.error_lines[:3])


def test_ctest_shows_the_output_of_the_failed_test():
    reading = read_text(
        """\
    Start 2: perimeter
2/2 Test #2: perimeter ........................***Failed    0.01 sec
/srv/geo/tests/t.cpp:10: CHECK_EQ(perimeter(r), 10) failed: 5 != 10

50% tests passed, 1 tests failed out of 2

The following tests FAILED:
\t  2 - perimeter (Failed)
""",
        8,
    )
    assert reading.location == "/srv/geo/tests/t.cpp:10"
    assert reading.failing == ("perimeter",)
    assert reading.counts == TestCounts(run=2, passed=1, failed=1, skipped=0)


def test_sanitizer_points_at_our_frame():
    reading = read_text(
        """\
==6358==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000020
WRITE of size 4 at 0x602000000020 thread T0
    #0 0x7f8 in __interceptor_memcpy ../../../../src/libsanitizer/asan/asan_malloc.cpp:69
    #1 0x55b in main /srv/calc/main.c:4
SUMMARY: AddressSanitizer: heap-buffer-overflow /srv/calc/main.c:4 in main
""",
        1,
    )
    assert (reading.location, reading.findings[0].type) == ("/srv/calc/main.c:4", "AddressSanitizer")


def test_gtest_shows_only_what_failed():
    reading = read_text(
        """\
[ RUN      ] Calc.Adds
src/calc_test.cc:7: Failure
Expected equality of these values:
  add(2, 2)
    Which is: 5
  4
[  FAILED  ] Calc.Adds (0 ms)
[ RUN      ] Calc.Subs
[       OK ] Calc.Subs (0 ms)
""",
        1,
    )
    assert (reading.location, reading.failing) == ("src/calc_test.cc:7", ("Calc.Adds",))


def test_cmake_error_in_a_module_of_cmake_is_placed_at_our_call():
    reading = read_text(
        """\
CMake Error at /usr/share/cmake-3.2/Modules/FindPackageHandleStandardArgs.cmake:138 (message):
  Could NOT find Halide (missing: HALIDE_ROOT_DIR)
Call Stack (most recent call first):
  /usr/share/cmake-3.2/Modules/FindPackageHandleStandardArgs.cmake:374 (_FPHSA_FAILURE_MESSAGE)
  cmake/Modules/FindHalide.cmake:38 (find_package_handle_standard_args)
  CMakeLists.txt:46 (include)
""",
        1,
    )
    assert reading.location == "cmake/Modules/FindHalide.cmake:38"


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
