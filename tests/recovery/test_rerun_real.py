"""Narrowed commands against the runners themselves: a real red project, its real log, only its failures rerun."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from buildloop.diagnosis.model import LogReading
from buildloop.gate.read import read_log
from buildloop.recovery.rerun.narrow import covers, narrowed_command

pytestmark = pytest.mark.slow
# The tests have a home of their own; toolchains live in the real one.
HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)


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
    needs: tuple[Path, ...] = ()


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
MAVEN = HOME / ".m2" / "repository"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>g</groupId><artifactId>shop</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
</properties><dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
<version>5.10.2</version><scope>test</scope></dependency></dependencies><build><plugins>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>
<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
</plugins></build></project>
"""
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
        "cargo test --offline -- --nocapture",
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
    "maven": Project(
        "mvn",
        f"mvn -B -o -Dmaven.repo.local={MAVEN} test",
        {
            "pom.xml": POM,
            "src/test/java/shop/CartTest.java": """package shop;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.*;
import org.junit.jupiter.params.provider.*;
class CartTest {
  @Test void sum() { assertEquals(1, 2); }
  @Test void sumOfNothing() { }
  @ParameterizedTest @ValueSource(ints = {1, 2}) void row(int n) { assertEquals(1, n); }
  @Nested class Inner { @Test void deep() { assertEquals(1, 2); } @Test void fine() { } }
}
""",
        },
        {"shop.CartTest#row(int)[2]", "shop.CartTest#sum", "shop.CartTest$Inner#deep"},
        4,
        needs=(MAVEN / "org/apache/maven/plugins/maven-surefire-plugin/3.2.5",),
    ),
    "bats": Project(
        "bats",
        "bats tests",
        {
            "tests/a.bats": "@test 'adds (1 + 1)' { false; }\n@test 'adds' { true; }\n@test \"it's\" { false; }\n"
        },
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


CURES = {
    "1, 2)": "1, 1)",
    "1, 2;": "1, 1;",
    "assert 1 == 2": "assert 1 == 1",
    'name == "fine"': "name",
    'raise RuntimeError("no database")': "pass",
    "expect(1).toBe(2)": "",
    "throw new Error('boom')": "",
    "throw new Error('x')": "",
    't.Error("wrong")': "",
    "COMMAND false": "COMMAND true",
    "false;": "true;",
    "is(1, 2,": "is(1, 1,",
    "eq 2": "eq 1",
    "assertEquals(1, n)": "assertEquals(n, n)",
    "assertSame(1, $row)": "assertSame($row, $row)",
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
    cure(project, tmp_path)
    green = run(narrowed, project, tmp_path)
    assert green.failing == ()
    assert covers(green, first), green.counts


@pytest.mark.parametrize("name", [name for name in PROJECTS if name != "prove"])
def test_names_that_match_nothing_are_not_taken_for_a_green_rerun(name: str, tmp_path: Path) -> None:
    """Most runners exit with 0 then: a test that vanished has not become green."""
    project = PROJECTS[name]
    require(project)
    write(project, tmp_path)
    run(project.setup, project, tmp_path)
    first = run(project.command, project, tmp_path)
    renamed = replace(
        first,
        failing=tuple(other_name(test) for test in first.failing if "hook" not in test),
        findings=tuple(replace(finding, test=other_name(finding.test or "")) for finding in first.findings),
    )
    narrowed = narrowed_command(project.command, renamed)
    assert narrowed is not None
    assert not covers(run(narrowed, project, tmp_path), first), narrowed


def other_name(test: str) -> str:
    return re.sub("(?<=[a-z])(?=[a-z])", "q", test, count=1)


def cure(project: Project, where: Path) -> None:
    for name, text in project.files.items():
        for wrong, right in CURES.items():
            text = text.replace(wrong, right)
        (where / name).write_text(text)
    run(project.setup, project, where)


def require(project: Project) -> None:
    missing = [tool for tool in (project.tool, *project.also) if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed here")
    if absent := [path for path in project.needs if not path.exists()]:
        pytest.skip(f"{absent[0]} is missing, and it cannot be fetched offline")


def write(project: Project, where: Path) -> None:
    for name, text in project.files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)
    program = Path(shutil.which(project.tool) or "")
    if program.parent.name == ".bin":
        (where / "node_modules").symlink_to(program.parent.parent)


def run(command: str, project: Project, where: Path) -> LogReading:
    log = where.parent / f"{where.name}.log"
    toolchains = {"RUSTUP_HOME": str(HOME / ".rustup"), "GOCACHE": str(where.parent / "go-cache")}
    environment = {**toolchains, **os.environ, **project.environment}
    with log.open("wb") as stream:
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=where, stdout=stream, stderr=stream, env=environment, check=False
        )
    return read_log(log, done.returncode)
