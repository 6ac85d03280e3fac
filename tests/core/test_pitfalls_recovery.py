"""Pitfall 17: cures that did harm. Pitfall 21 is with the tasks, in tests/orchestration."""

from __future__ import annotations

import os

from buildloop.recovery.install import install_dependencies
from buildloop.redact import redactor


def test_17_a_failed_install_leaves_the_old_environment_as_it_was(tmp_path):
    project, programs = tmp_path / "project", tmp_path / "bin"
    (project / "node_modules" / "left").mkdir(parents=True)
    (project / "node_modules" / "left" / "index.js").write_text("works")
    (project / "package-lock.json").write_text("{}")
    programs.mkdir()
    (programs / "npm").write_text(
        "#!/bin/sh\nmkdir -p node_modules/half\necho 'npm ERR! code E404'\nexit 1\n"
    )
    (programs / "npm").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    install = install_dependencies(
        project, tmp_path / "run", tmp_path / "install.log", environment, "m", redactor({})
    )
    assert not install.done
    assert (project / "node_modules" / "left" / "index.js").read_text() == "works"
    assert not (project / "node_modules" / "half").exists()
