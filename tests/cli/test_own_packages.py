"""A project's own `tasks` and `flows` are not taken for ours."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
from buildloop.cli.own_packages import OURS, prefer_own_packages
prefer_own_packages()
import flows, tasks
assert [str(OURS / name) for name in ("flows", "tasks")] == [*flows.__path__, *tasks.__path__], (flows, tasks)
"""


def test_a_users_module_of_the_same_name_is_passed_over(tmp_path):
    (tmp_path / "tasks.py").write_text("raise SystemExit('not ours')\n")
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "__init__.py").touch()
    before = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(tmp_path), before]))}
    ran = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
