"""An edited gate: does it still do everything it did, as strictly?"""

from __future__ import annotations

import json
from functools import partial

import pytest

from buildloop.workspace.integrity.gate_files import package_scripts
from buildloop.workspace.integrity.gate_kept import makefile_narrowed, package_narrowed, script_narrowed
from buildloop.workspace.integrity.makefiles import read_makefile

SCRIPT = """#!/bin/sh
set -eu
. build/expect.sh
expect "$(sh greet.sh Ada)" "Hello, Ada!"
sh -n greet.sh
"""
MAKEFILE = """LINT := sh -n
.PHONY: check unit lint
check: unit lint
unit:
\tsh build/unit.sh
lint:
\t$(LINT) greet.sh
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("set -eu", "set -euo pipefail\nexport LC_ALL=C"),
        ("sh -n greet.sh", "for one in greet.sh build/expect.sh; do\n    sh -n $one\ndone"),
        ("sh -n greet.sh", 'step() {\n    echo "== $*"\n    "$@"\n}\nstep sh -n greet.sh'),
        ("sh -n greet.sh", "sh -n greet.sh || exit 1\nrm -f out || true"),
        (". build", "tmp=$(mktemp -d)\ntrap 'rm -rf \"$tmp\"' EXIT\n. build"),
        ("sh -n greet.sh", "bash -n greet.sh"),
    ],
)
def test_a_script_may_do_more(old, new):
    assert script_narrowed(SCRIPT, SCRIPT.replace(old, new), shell=True) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("set -eu\n", ""),
        ("set -eu", "set -eu\nset +e"),
        ("sh -n greet.sh", "sh -n greet.sh || true"),
        ("sh -n greet.sh", "sh -n greet.sh | cat"),
        ("sh -n greet.sh", "sh -n greet.sh &"),
        ("sh -n greet.sh", 'if [ -n "$CI" ]; then sh -n greet.sh; fi'),
        ("sh -n greet.sh", '[ -z "$CI" ] || sh -n greet.sh'),
        ("sh -n greet.sh", "echo sh -n greet.sh"),
        ("expect ", "exit 0\nexpect "),
        ("expect ", "expect() { :; }\nexpect "),
        ("Hello, Ada!", "Hello Ada"),
        ("set -eu", "set -eu\ntrap 'exit 0' EXIT"),
    ],
)
def test_a_script_may_not_do_less(old, new):
    assert script_narrowed(SCRIPT, SCRIPT.replace(old, new, 1), shell=True)


def test_a_program_that_judges_keeps_its_values_and_comparisons():
    old = "wanted = 2\nif found != wanted:\n    print('no')\n    sys.exit(1)\n"
    assert script_narrowed(old, old.replace("print('no')", "print('version is wrong')"), shell=False) is None
    assert script_narrowed(old, old.replace("!=", ">"), shell=False)
    assert script_narrowed(old, old.replace("= 2", "= 1"), shell=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("check: unit lint", "check: unit lint fmt\nfmt:\n\tsh fmt.sh"),
        ("\tsh build/unit.sh", "\t@echo unit\n\t@sh build/unit.sh"),
        ("\t$(LINT) greet.sh", "\tfor one in greet.sh unit.sh; do $(LINT) $$one || exit 1; done"),
        ("check: unit lint", "check: all\n.PHONY: all\nall: unit lint"),
        ("LINT := sh -n", "SHELL := /bin/bash\n.SHELLFLAGS := -eu -o pipefail -c\nLINT := bash -n"),
    ],
)
def test_a_makefile_may_do_more(old, new):
    before, after = read_makefile(MAKEFILE), read_makefile(MAKEFILE.replace(old, new))
    assert makefile_narrowed(before, after, ["check"]) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("check: unit lint", "check: unit"),
        ("\tsh build/unit.sh", "\t-sh build/unit.sh"),
        ("\tsh build/unit.sh", "\tsh build/unit.sh; echo done"),
        ("\tsh build/unit.sh", "ifdef CI\n\tsh build/unit.sh\nendif"),
        ("sh -n", "true"),
        ("LINT :=", "MAKEFLAGS += -i\nLINT :="),
        ("LINT :=", "SHELL := /bin/true\nLINT :="),
        ("check unit lint", "check lint"),
    ],
)
def test_a_makefile_may_not_do_less(old, new):
    before, after = read_makefile(MAKEFILE), read_makefile(MAKEFILE.replace(old, new, 1))
    assert makefile_narrowed(before, after, ["check"])


@pytest.mark.parametrize(
    ("scripts", "less"),
    [
        ({"test": "eslint . && jest --ci"}, False),
        ({"test": "npm run unit", "unit": "jest --ci"}, False),
        ({"pretest": "eslint .", "test": "jest --ci --verbose"}, False),
        ({"test": "jest --ci || true"}, True),
        ({"test": "jest --ci; exit 0"}, True),
        ({"test": "jest --ci --testPathPattern=cart"}, True),
        ({"test": "eslint ."}, True),
    ],
)
def test_scripts_of_a_package(scripts, less):
    old, new = (json.dumps({"scripts": one}) for one in ({"test": "jest --ci"}, scripts))
    lost = package_narrowed(partial(package_scripts, old), partial(package_scripts, new), "test")
    assert bool(lost) is less
