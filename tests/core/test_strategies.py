"""Seed 001, cases 13 to 18: what `get_recovery_strategy` answers; and the laws of the strategy table."""

from __future__ import annotations

import json

import pytest

from buildloop.diagnosis.model import FailureMode
from buildloop.recovery.strategies import STRATEGIES, get_recovery_strategy, strategy_for

FIELDS = {"mode", "action", "args", "description", "max_retries_override"}


@pytest.mark.parametrize(
    ("mode", "action", "args"),
    [
        pytest.param("test_flakiness", "rerun_tests", ["--max-iterations", "3"], id="13-rerun-for-flakiness"),
        pytest.param("dependency_issue", "reinstall_deps", ["--max-iterations", "5"], id="14-reinstall"),
        pytest.param("infinite_loop", "reduce_and_redirect", ["--max-iterations", "10"], id="15-redirect"),
        pytest.param("context_exhaustion", "restart_compressed", ["--max-restarts", "+2"], id="16-restart"),
        pytest.param("code_error", "standard_retry", [], id="17-standard-retry"),
        pytest.param("no_such_mode", "standard_retry", [], id="18-unknown-mode"),
    ],
)
def test_seed001_each_mode_has_its_strategy(mode, action, args):
    strategy = get_recovery_strategy(mode)
    assert (strategy["action"], strategy["args"]) == (action, args)


@pytest.mark.parametrize("mode", [*FailureMode, "no_such_mode"])
def test_a_strategy_is_the_json_object_the_design_describes(mode):
    strategy = json.loads(json.dumps(get_recovery_strategy(mode)))
    assert set(strategy) == FIELDS
    assert strategy["description"]


def test_flaky_tests_are_rerun_three_times():
    assert get_recovery_strategy("test_flakiness")["max_retries_override"] == 3


def test_every_mode_has_a_strategy_of_its_own():
    assert set(STRATEGIES) == set(FailureMode)
    assert len({strategy.action for strategy in STRATEGIES.values()}) == len(FailureMode)
    assert all(strategy.mode == mode for mode, strategy in STRATEGIES.items())


def test_a_missing_package_that_no_install_brings_is_a_loop_when_it_repeats():
    assert strategy_for(FailureMode.DEPENDENCY_ISSUE).action == "reinstall_deps"
    assert strategy_for(FailureMode.DEPENDENCY_ISSUE, repeats=True).action == "reduce_and_redirect"


@pytest.mark.parametrize("mode", [FailureMode.CODE_ERROR, FailureMode.CONTEXT_EXHAUSTION])
def test_other_modes_keep_their_strategy(mode):
    """A full context has its own limit, and a loop of code errors is diagnosed as one."""
    assert strategy_for(mode, repeats=True) == STRATEGIES[mode]
