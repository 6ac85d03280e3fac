"""tsc, ESLint, bundlers, bare node."""

from __future__ import annotations

import pytest

from buildloop.gate.read import read_text


@pytest.mark.parametrize(
    "line",
    [
        "src/a.ts(2,26): error TS2322: Type 'string' is not assignable to type 'number'.",
        "src/a.ts:2:26 - error TS2322: Type 'string' is not assignable to type 'number'.",
    ],
)
def test_tsc_plain_and_pretty(line: str):
    reading = read_text(line + "\n", 2)
    assert (reading.location, reading.findings[0].type) == ("src/a.ts:2", "TS2322")


def test_eslint_puts_an_undefined_name_before_an_unused_one():
    reading = read_text(
        """\

/srv/app/src/a.mjs
  2:7   error  'unused' is assigned a value but never used  no-unused-vars
  3:10  error  'b' is not defined                           no-undef

✖ 2 problems (2 errors, 0 warnings)
""",
        1,
    )
    assert reading.location == "/srv/app/src/a.mjs:3"
    assert reading.findings[0].type == "no-undef"


def test_webpack_and_esbuild_name_the_importing_file():
    webpack = read_text(
        "ERROR in ./src/a.js 1:0-34\nModule not found: Error: Can't resolve './x' in '/srv/src'\n", 1
    )
    assert webpack.location == "src/a.js:1"
    esbuild = read_text(
        '✘ [ERROR] Could not resolve "./x"\n\n    src/i.js:1:18:\n      1 │ import "./x";\n        ╵  ~~\n', 1
    )
    assert esbuild.location == "src/i.js:1"


def test_node_that_dies_points_at_our_file_and_a_syntax_error_at_its_line():
    thrown = read_text(
        "/srv/t.js:3\n  throw new Error('boom');\n  ^\n\nError: boom\n    at Object.<anonymous> "
        "(/srv/t.js:3:9)\n"
        "    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n",
        1,
    )
    assert thrown.location == "/srv/t.js:3"
    broken = read_text(
        "/srv/a.js:2\n  const a = ;\n            ^\n\nSyntaxError: Unexpected token ';'\n"
        "    at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n",
        1,
    )
    assert broken.location == "/srv/a.js:2"
