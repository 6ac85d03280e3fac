"""Starting costs little: counted, not timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PYTEST_LOG = """\
============================= test session starts ==============================
platform linux -- Python 3.11.7, pytest-8.4.1, pluggy-1.6.0
rootdir: /srv/shop
collected 3 items

tests/test_cart.py .F.                                                   [100%]

=================================== FAILURES ===================================
__________________________________ test_total __________________________________

    def test_total():
>       assert total([1, 2]) == 4
E       assert 3 == 4

tests/test_cart.py:8: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - assert 3 == 4
========================= 1 failed, 2 passed in 0.03s ==========================
"""
COUNTING = """
import contextlib, io, json, sys
from re import _compiler
compiled, compile = [], _compiler.compile
_compiler.compile = lambda pattern, flags=0: compiled.append(pattern) or compile(pattern, flags)
before = set(sys.modules)
from buildloop.cli.diagnose import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print(json.dumps({"compiled": len(compiled), "loaded": sorted(set(sys.modules) - before)}))
"""


def cost(*arguments: str) -> tuple[int, list[str]]:
    """How many expressions one call of the command compiles, and which modules it loads."""
    ran = subprocess.run(
        [sys.executable, "-c", COUNTING, *arguments], capture_output=True, text=True, check=True
    )
    told = json.loads(ran.stdout)
    return told["compiled"], told["loaded"]


@pytest.mark.parametrize(("options", "compiles", "modules"), [((), 110, 105), (("--json",), 165, 110)])
def test_a_small_log_costs_what_it_needs(
    tmp_path: Path, options: tuple[str, ...], compiles: int, modules: int
):
    log = tmp_path / "gate.log"
    log.write_text(PYTEST_LOG, encoding="utf-8")
    compiled, loaded = cost(str(log), *options)
    assert compiled <= compiles
    assert len(loaded) <= modules
    assert not {"shutil", "datetime", "pydantic", "rich", "typer", "prefect"} & set(loaded)


def test_help_compiles_next_to_nothing():
    compiled, loaded = cost("--help")
    assert compiled <= 30
    assert len(loaded) <= 95
