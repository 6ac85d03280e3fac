"""Narrowed commands against the runners themselves: a real red project, its real log, only its failures rerun."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from buildloop.diagnosis.model import LogReading
from buildloop.gate.read import read_log
from buildloop.recovery.rerun.narrow import covers, narrowed_command

pytestmark = pytest.mark.slow
GOES_RED = Path("goes-red")


@dataclass(frozen=True)
class Project:
    """`runs` is how many tests the narrowed command may run: the failing ones, unless the runner cannot do it."""

    tool: str
    command: str
    files: dict[str, str]
    failing: set[str]
    runs: int
    setup: str = "true"
    also: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


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


PROJECTS = {
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
        1,
    ),
    "unittest discover": Project(
        "python3",
        f"{sys.executable} -m unittest discover -s tests",
        PYTHON_TESTS,
        {"test_cart.CartTest.test_sum", "test_cart.Fixture.setUpClass"},
        1,
    ),
    "jest": Project(
        "jest",
        "jest suite",
        {"suite/a.test.js": js("test", "expect(1).toBe(2)"), "suite/b.test.js": "test('b', () => {})", "package.json": "{}"},
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
            "a.test.js": "const {describe, it} = require('node:test')\n" + js("it", "throw new Error('boom')"),
        },
        {"adds 1 + 1 [x]", "inner", "n", "cart (total)", "top 'quoted' $name"},
        3,
    ),
    "go test": Project(
        "go",
        "go test ./...",
        {
            "go.mod": "module example.com/shop\n\ngo 1.19\n",
            "a_test.go": """package shop
import "testing"
func TestSum(t *testing.T) { t.Error("wrong") }
func TestSummary(t *testing.T) {}
func TestTable(t *testing.T) {
	t.Run("a b (c)", func(t *testing.T) { t.Error("wrong") })
	t.Run("fine", func(t *testing.T) {})
}
""",
        },
        {"TestSum", "TestTable", "TestTable/a_b_(c)"},
        4,
        environment={"GOFLAGS": "-mod=mod", "GO111MODULE": "on"},
    ),
    "go test, subtests only": Project(
        "go",
        "go test ./...",
        {
            "go.mod": "module example.com/shop\n\ngo 1.19\n",
            "a_test.go": """package shop
import "testing"
func TestTable(t *testing.T) {
	t.Run("a b (c)", func(t *testing.T) { t.Error("wrong") })
	t.Run("fine", func(t *testing.T) {})
}
""",
        },
        {"TestTable", "TestTable/a_b_(c)"},
        2,
    ),
    "cargo test": Project(
        "cargo",
        "cargo test --offline -q -- --nocapture",
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": """
#[cfg(test)]
mod tests {
    #[test]
    fn sum() { assert_eq!(1, 2); }
    #[test]
    fn summary() {}
}
""",
        },
        {"tests::sum"},
        1,
    ),
    "ctest": Project(
        "ctest",
        "ctest --test-dir build --output-on-failure",
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\nproject(shop NONE)\nenable_testing()\n"
            "add_test(NAME cart.sum+1 COMMAND false)\nadd_test(NAME cart.sum COMMAND true)\n",
        },
        {"cart.sum+1"},
        1,
        setup="cmake -S . -B build",
        also=("cmake",),
    ),
    "bats": Project(
        "bats",
        "bats tests",
        {"tests/a.bats": "@test 'adds (1 + 1)' { false; }\n@test 'adds' { true; }\n@test \"it's\" { false; }\n"},
        {"adds (1 + 1)", "it's"},
        2,
    ),
    "prove": Project(
        "prove",
        "prove -lr t",
        {
            "t/a.t": "use Test::More tests => 2; ok(1, 'fine'); is(1, 2, 'sum');",
            "t/b.t": "use Test::More tests => 1; ok(1, 'b');",
        },
        {"t/a.t"},
        2,
    ),
    "rspec": Project(
        "rspec",
        "rspec -f progress spec",
        {
            "spec/a_spec.rb": "RSpec.describe 'Cart' do\n  it('sums') { expect(1).to eq 2 }\n"
            "  it('is') { expect(1).to eq 1 }\nend\n",
            "spec/b_spec.rb": "RSpec.describe('B') { it('b') { } }\n",
        },
        {"./spec/a_spec.rb:2"},
        1,
    ),
    "minitest": Project(
        "ruby",
        "ruby -Itest test/cart_test.rb",
        {
            "test/cart_test.rb": "require 'minitest/autorun'\nclass CartTest < Minitest::Test\n"
            "  def test_sum; assert_equal 1, 2; end\n  def test_sum_of_nothing; end\nend\n",
        },
        {"CartTest#test_sum"},
        1,
    ),
    "rake test": Project(
        "rake",
        "rake test",
        {
            "Rakefile": "require 'rake/testtask'\nRake::TestTask.new { |t| t.pattern = 'test/*_test.rb' }\n",
            "test/cart_test.rb": "require 'minitest/autorun'\nclass CartTest < Minitest::Test\n"
            "  def test_sum; assert_equal 1, 2; end\n  def test_tax; assert_equal 1, 2; end\n"
            "  def test_sum_of_nothing; end\nend\n",
        },
        {"CartTest#test_sum", "CartTest#test_tax"},
        2,
    ),
    "phpunit": Project(
        "phpunit",
        "phpunit tests",
        {
            "tests/CartTest.php": """<?php
namespace Shop;
use PHPUnit\\Framework\\TestCase;
class CartTest extends TestCase {
    public static function rows(): array { return ['a' => [1], 'b' => [2]]; }
    /** @dataProvider rows */
    public function testRow(int $row): void { $this->assertSame(1, $row); }
    public function testSum(): void { $this->assertSame(1, 2); }
    public function testSumOfNothing(): void { $this->assertSame(1, 1); }
}
""",
        },
        {"Shop\\CartTest::testRow", "Shop\\CartTest::testSum"},
        3,
    ),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_only_the_failing_tests_run_again(name: str, tmp_path: Path) -> None:
    project = PROJECTS[name]
    require(project)
    write(project, tmp_path)
    run(project.setup, project, tmp_path)
    first = run(project.command, project, tmp_path)
    assert set(first.failing) == project.failing
    narrowed = narrowed_command(project.command, first)
    assert narrowed is not None
    again = run(narrowed, project, tmp_path)
    assert set(again.failing) == project.failing, narrowed
    assert again.counts is not None
    assert again.counts.run == project.runs, narrowed
    assert covers(again, first)


@pytest.mark.parametrize("name", PROJECTS)
def test_names_that_match_nothing_are_not_taken_for_a_green_rerun(name: str, tmp_path: Path) -> None:
    """Most runners exit with 0 then: a test that vanished has not become green."""
    project = PROJECTS[name]
    require(project)
    write(project, tmp_path)
    run(project.setup, project, tmp_path)
    first = run(project.command, project, tmp_path)
    narrowed = narrowed_command(project.command, first)
    assert narrowed is not None
    for path in [path for path in tmp_path.rglob("*") if path.is_file() and path.name in map(base, project.files)]:
        text = path.read_text()
        for word in ("sum", "Sum", "Row", "adds", "n'", "top", "name", "Table", "it's", "sums", "tax", "test_", "z'"):
            text = text.replace(word, f"gone{word}") if word in text else text
        if path.suffix != ".t":
            path.write_text(text)
    if project.tool not in ("prove", "rspec", "ctest"):
        assert not covers(run(narrowed, project, tmp_path), first), narrowed


def base(name: str) -> str:
    return name.rpartition("/")[2]


def require(project: Project) -> None:
    missing = [tool for tool in (project.tool, *project.also) if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed here")


def write(project: Project, where: Path) -> None:
    for name, text in project.files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)
    program = Path(shutil.which(project.tool) or "")
    if program.parent.name == ".bin":
        (where / "node_modules").symlink_to(program.parent.parent)


def run(command: str, project: Project, where: Path) -> LogReading:
    log = where.parent / f"{where.name}.log"
    environment = {**os.environ, "GOCACHE": str(where.parent / "go-cache"), **project.environment}
    with log.open("wb") as stream:
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=where, stdout=stream, stderr=stream, env=environment, check=False
        )
    return read_log(log, done.returncode)
