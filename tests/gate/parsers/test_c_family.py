"""gcc, ld, make, cmake, ctest, gtest, sanitizers."""

from __future__ import annotations

from buildloop.diagnosis.model import TestCounts
from buildloop.gate.read import read_text


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


def test_a_failed_assert_of_libc_comes_before_the_abort():
    reading = read_text(
        "t: main.c:12: main: Assertion `add(2, 2) == 4' failed.\nAborted (core dumped)\n", 134
    )
    assert reading.location == "main.c:12"
    assert reading.error_lines[1] == "Aborted (core dumped)"
