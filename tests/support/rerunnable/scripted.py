"""Projects of the runners of Bash, Perl, Ruby and PHP."""

from __future__ import annotations

from tests.support.rerunnable.project import Project

SCRIPTED = {
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
