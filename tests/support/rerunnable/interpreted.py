"""Projects of the Python and JavaScript runners."""

from __future__ import annotations

import sys

from tests.support.rerunnable.project import Project

PYTHON_TESTS = {
    "tests/__init__.py": "",
    "tests/test_cart.py": """
import pathlib, unittest

class CartTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(1, 2)
    def test_sum_of_nothing(self):
        pass

class Fixture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no database")
    def test_needs_it(self):
        pass
""",
}
JS_SUITE = """
describe('cart (total)', () => {
  IT('adds 1 + 1 [x]', () => { FAIL });
  IT('adds', () => {});
  describe('inner', () => { IT('n', () => { FAIL }); IT('n too', () => {}); });
});
IT("top 'quoted' $name", () => { FAIL });
"""
JS_NAMES = {"cart (total) adds 1 + 1 [x]", "cart (total) inner n", "top 'quoted' $name"}


def js(it: str, fail: str) -> str:
    return JS_SUITE.replace("IT", it).replace("FAIL", fail)


INTERPRETED = {
    "pytest": Project(
        "pytest",
        f"CI=1 {sys.executable} -m pytest -q -p no:cacheprovider tests",
        {
            "tests/test_a.py": """
import pytest

class TestCart:
    def test_sum(self):
        assert 1 == 2
    def test_sum_of_nothing(self):
        pass

@pytest.mark.parametrize("name", ["a b", "c::d", "it's $HOME", "fine"])
def test_name(name):
    assert name == "fine"
"""
        },
        {
            "tests/test_a.py::TestCart::test_sum",
            "tests/test_a.py::test_name[a b]",
            "tests/test_a.py::test_name[c::d]",
            "tests/test_a.py::test_name[it's $HOME]",
        },
        4,
    ),
    "unittest": Project(
        "python3",
        f"{sys.executable} -m unittest -q",
        PYTHON_TESTS,
        {"tests.test_cart.CartTest.test_sum", "tests.test_cart.Fixture.setUpClass"},
        2,
    ),
    "unittest discover": Project(
        "python3",
        f"{sys.executable} -m unittest discover -s tests",
        PYTHON_TESTS,
        {"test_cart.CartTest.test_sum", "test_cart.Fixture.setUpClass"},
        2,
    ),
    "jest": Project(
        "jest",
        "jest suite",
        {
            "suite/a.test.js": js("test", "expect(1).toBe(2)"),
            "suite/b.test.js": "test('b', () => {})",
            "package.json": "{}",
        },
        JS_NAMES,
        3,
    ),
    "jest in npm test": Project(
        "jest",
        "npm test",
        {
            "a.test.js": js("test", "expect(1).toBe(2)"),
            "package.json": '{"scripts": {"test": "jest"}}',
        },
        JS_NAMES,
        3,
        also=("npm",),
    ),
    "vitest": Project(
        "vitest",
        "npx vitest run",
        {"a.test.mjs": "import {describe, test, expect} from 'vitest'\n" + js("test", "expect(1).toBe(2)")},
        {
            "a.test.mjs > cart (total) > adds 1 + 1 [x]",
            "a.test.mjs > cart (total) > inner > n",
            "a.test.mjs > top 'quoted' $name",
        },
        3,
    ),
    "mocha": Project(
        "mocha",
        "mocha *.spec.js",
        {
            "a.spec.js": js("it", "throw new Error('boom')"),
            "b.spec.js": "describe('h', () => { before(() => { throw new Error('x') }); it('z', () => {}) })",
        },
        JS_NAMES | {'h "before all" hook for "z"'},
        4,
    ),
    "ava": Project(
        "ava",
        "ava",
        {
            "a.test.mjs": "import test from 'ava'; test('adds * [x]', t => t.is(1, 2)); test('ok', t => t.pass())",
            "b.test.mjs": "import test from 'ava'; test('!top', t => t.is(1, 2)); test('fine', t => t.pass())",
            "package.json": '{"type": "module"}',
        },
        {"a › adds * [x]", "b › !top"},
        2,
    ),
    "node --test": Project(
        "node",
        "node --test",
        {
            "a.test.js": "const {describe, it} = require('node:test')\n"
            + js("it", "throw new Error('boom')"),
        },
        {"adds 1 + 1 [x]", "inner", "n", "cart (total)", "top 'quoted' $name"},
        3,
    ),
}
