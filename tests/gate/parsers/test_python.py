"""pytest, unittest, tracebacks, and the Python checkers."""

from __future__ import annotations

from buildloop.diagnosis.model import TestCounts
from buildloop.gate.read import read_text

PYTEST = """\
============================= test session starts ==============================
collected 3 items

tests/test_cart.py .F.                                                   [100%]

=================================== FAILURES ===================================
___________________________ TestCart.test_total[2-3] ___________________________

self = <tests.test_cart.TestCart object at 0x7f>

    def test_total(self, price, quantity):
>       assert total(price, quantity) == 6
E       assert 2 == 6
E        +  where 2 = total(2, 3)

tests/test_cart.py:12: AssertionError
----------------------------- Captured stdout call -----------------------------
ERROR: this is only what the program printed
=========================== short test summary info ============================
FAILED tests/test_cart.py::TestCart::test_total[2-3] - assert 2 == 6
========================= 1 failed, 2 passed in 0.05s ==========================
"""


def test_pytest_gives_the_id_that_pytest_accepts_the_place_and_both_values():
    reading = read_text(PYTEST, 1)
    [finding] = [f for f in reading.findings if f.test]
    assert reading.failing == ("tests/test_cart.py::TestCart::test_total[2-3]",)
    assert reading.counts == TestCounts(run=3, passed=2, failed=1, skipped=0)
    assert (finding.location, finding.type) == ("tests/test_cart.py:12", "AssertionError")
    assert (finding.expected, finding.actual) == ("6", "2")
    assert reading.error_lines[0] == "E       assert 2 == 6"
    assert "tests/test_cart.py:12: AssertionError" in reading.error_lines
    assert not any("only what the program printed" in line for line in reading.error_lines)


def test_pytest_points_at_our_frame_not_at_the_library_that_raised():
    reading = read_text(
        """\
=================================== FAILURES ===================================
__________________________________ test_ping ___________________________________
test_client.py:5: in test_ping
    assert ping() == "PONG"
client.py:9: in ping
    with socket.create_connection(address) as s:
/usr/lib/python3.11/socket.py:836: in create_connection
    sock.connect(sa)
E   ConnectionRefusedError: [Errno 111] Connection refused
=========================== short test summary info ============================
FAILED test_client.py::test_ping - ConnectionRefusedError: [Errno 111] Connec...
1 failed in 0.79s
""",
        1,
    )
    assert reading.location == "client.py:9"


def test_pytest_collection_error_is_placed_at_the_broken_file():
    reading = read_text(
        """\
==================================== ERRORS ====================================
______________________ ERROR collecting tests/test_api.py ______________________
tests/test_api.py:3: in <module>
    from app.api import create
E     File "/srv/app/api.py", line 10
E       def create(:
E                  ^
E   SyntaxError: invalid syntax
=========================== short test summary info ============================
ERROR tests/test_api.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
=============================== 1 error in 0.32s ===============================
""",
        2,
    )
    assert reading.location == "/srv/app/api.py:10"
    assert reading.findings[0].type == "SyntaxError"
    assert reading.failing == ("tests/test_api.py",)


def test_pytest_conftest_that_does_not_load():
    reading = read_text(
        """\
ImportError while loading conftest '/srv/shop/tests/conftest.py'.
tests/conftest.py:1: in <module>
    from shop.testing import make_cart
E   ModuleNotFoundError: No module named 'shop.testing'
""",
        4,
    )
    assert reading.error_lines[:2] == (
        "E   ModuleNotFoundError: No module named 'shop.testing'",
        "ImportError while loading conftest '/srv/shop/tests/conftest.py'.",
    )
    assert reading.location == "tests/conftest.py:1"


def test_pytest_with_only_a_summary():
    reading = read_text("FAILED tests/test_a.py::test_b - ValueError: no\n1 failed in 0.1s\n", 1)
    assert reading.findings[0].type == "ValueError"
    assert reading.findings[0].file == "tests/test_a.py"


def test_pytest_that_ran_nothing_says_so():
    reading = read_text("collected 0 items\n\n============= no tests ran in 0.01s =============\n", 5)
    assert reading.findings[0].type == "NoTests"


UNITTEST = """\
.F
======================================================================
FAIL: test_add (tests.test_calc.CalcTest.test_add)
adds two numbers
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/srv/calc/tests/test_calc.py", line 9, in test_add
    self.assertEqual(add(2, 2), 4)
AssertionError: 5 != 4

----------------------------------------------------------------------
Ran 2 tests in 0.004s

FAILED (failures=1)
"""


def test_unittest_names_the_test_in_both_notations():
    assert read_text(UNITTEST, 1).failing == ("tests.test_calc.CalcTest.test_add",)
    older = UNITTEST.replace("(tests.test_calc.CalcTest.test_add)", "(tests.test_calc.CalcTest)")
    assert read_text(older, 1).failing == ("tests.test_calc.CalcTest.test_add",)


def test_unittest_gives_place_values_and_counts_but_not_its_own_tally_as_an_error():
    reading = read_text(UNITTEST, 1)
    finding = reading.findings[0]
    assert finding.location == "/srv/calc/tests/test_calc.py:9"
    assert (finding.expected, finding.actual) == ("4", "5")
    assert reading.counts == TestCounts(run=2, passed=1, failed=1, skipped=0)
    assert "FAILED (failures=1)" not in reading.error_lines


def test_traceback_of_a_program_ends_a_chain_with_what_it_died_of():
    reading = read_text(
        """\
Traceback (most recent call last):
  File "/srv/app/cfg.py", line 4, in load
    return json.load(f)
json.decoder.JSONDecodeError: Expecting ',' delimiter: line 3 column 5 (char 40)

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/app/main.py", line 12, in <module>
    cfg = load("a.json")
cfg.ConfigError: bad config
""",
        1,
    )
    assert reading.error_lines[0] == "cfg.ConfigError: bad config"
    assert reading.location == "/srv/app/main.py:12"
    assert any("JSONDecodeError" in line for line in reading.error_lines)


def test_mypy_and_pyright():
    mypy = read_text(
        'app.py:5: error: Argument 1 has incompatible type "str"; expected "int"  [arg-type]\n', 1
    )
    assert (mypy.location, mypy.findings[0].type) == ("app.py:5", "arg-type")
    pyright = read_text('  /srv/app.py:5:9 - error: "foo" is not defined (reportUndefinedVariable)\n', 1)
    assert pyright.location == "/srv/app.py:5"


def test_ruff_full_and_concise_put_a_wrong_name_before_style():
    concise = read_text(
        "m.py:1:8: F401 [*] `os` imported but unused\nm.py:5:9: F821 Undefined name `jsn`\n", 1
    )
    assert concise.location == "m.py:5"
    full = read_text(
        "F821 Undefined name `jsn`\n --> m.py:5:12\n  |\n5 |     return jsn.dumps(x)\n  |            ^^^\n", 1
    )
    assert full.location == "m.py:5"
    assert full.error_lines[0] == "F821 Undefined name `jsn`"


def test_flake8_and_pylint():
    assert read_text("app.py:3:12: E999 SyntaxError: invalid syntax\n", 1).location == "app.py:3"
    pylint = read_text(
        "app.py:1:0: C0114: Missing docstring (x)\napp.py:5:4: E0602: Undefined variable 'foo' (x)\n", 2
    )
    assert pylint.location == "app.py:5"


def test_an_option_of_a_missing_plugin():
    reading = read_text(
        "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov=shop\n", 4
    )
    assert reading.findings[0].type == "MissingPlugin"


def test_a_crash_of_the_interpreter_points_at_our_frame():
    reading = read_text(
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n"
        '  File "/srv/app/native.py", line 9 in call\n  File "/x/site-packages/_pytest/python.py", line 194 '
        "in f\n",
        139,
    )
    assert reading.location == "/srv/app/native.py:9"
