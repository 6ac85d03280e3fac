"""Pitfalls 17 and 21: cures that did harm, and cures that did nothing."""

from __future__ import annotations

import os

import pytest

from buildloop.diagnosis.model import FailureMode
from buildloop.recovery.install import install_dependencies
from buildloop.recovery.strategies import strategy_for
from buildloop.redact import redactor
from buildloop.workspace.worktree import prepare_worktree
from tasks.recover import RecoverInput, recover


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


@pytest.mark.parametrize("mode", FailureMode)
def test_21_every_strategy_is_carried_out_and_its_outcome_recorded(mode, repo, request_for, tmp_path):
    request = request_for(repo)
    workspace = prepare_worktree(request)
    strategy = strategy_for(mode)
    recovery = recover.fn(
        "key",
        RecoverInput(
            request=request,
            workspace=workspace,
            session=1,
            number=1,
            strategy=strategy,
            environment={},
            restarts=0,
            tried_before=False,
            flaky=(),
            tree=workspace.start_tree,
            evidence=(),
            redirect="another approach",
            head=workspace.start_commit,
            best_commit=workspace.start_commit,
        ),
    )
    assert recovery.strategy == strategy
    assert recovery.outcome
    assert strategy.action in (request.run_dir / "events.jsonl").read_text()
