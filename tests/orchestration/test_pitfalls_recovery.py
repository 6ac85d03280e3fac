"""Pitfall 21: cures that did nothing."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.model import FailureMode
from buildloop.recovery.plain import PLAIN, plain_recovery
from buildloop.recovery.strategies import strategy_for
from buildloop.workspace.worktree import prepare_worktree
from tasks.recover import RecoverInput, recover


@pytest.mark.parametrize("mode", FailureMode)
def test_21_every_strategy_is_carried_out_and_its_outcome_recorded(mode, repo, request_for, tmp_path):
    request = request_for(repo)
    workspace = prepare_worktree(request)
    strategy = strategy_for(mode)
    if strategy.action in PLAIN:  # the next prompt or session is the recovery, and the record tells of it
        assert plain_recovery(request, strategy, None, None).outcome
        return
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
