"""Retry policies: generated from the strategy, different by mode as the strategy table says."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.model import FailureMode
from buildloop.errors import AgentUnavailable, GateStillRed, InstallUnavailable
from buildloop.recovery.policy import COUNTER_PROOF_RUNS, LONGEST_DELAY, RetryPolicy, retry_policy
from buildloop.recovery.strategies import STRATEGIES, get_recovery_strategy, strategy_for
from tasks.falsify import ATTEMPTS
from tests.support.states import request

ACTIONS = {
    "test_flakiness": "rerun_tests",
    "dependency_issue": "reinstall_deps",
    "infinite_loop": "reduce_and_redirect",
    "context_exhaustion": "restart_compressed",
    "code_error": "standard_retry",
}


def policies(mode: FailureMode | None, **changes: object):
    return retry_policy(strategy_for(mode) if mode else None, request(**changes))


def test_the_strategy_table_is_complete():
    assert {mode.value: strategy.action for mode, strategy in STRATEGIES.items()} == ACTIONS
    assert all(strategy.mode == mode for mode, strategy in STRATEGIES.items())


def test_flaky_tests_rerun_the_gate_three_times_with_jittered_delays():
    gate = policies(FailureMode.TEST_FLAKINESS).gate
    assert (gate.retries, len(gate.delays), gate.retry_on) == (3, 3, GateStillRed)
    assert gate.jitter > 0
    assert all(delay > 0 for delay in gate.delays)


@pytest.mark.parametrize(
    "mode", [None, *(mode for mode in FailureMode if mode is not FailureMode.TEST_FLAKINESS)]
)
def test_no_other_mode_reruns_a_red_gate(mode):
    """The same tree would be red again."""
    assert policies(mode).gate.retries == 0


def test_a_missing_dependency_retries_the_install_with_backoff():
    recover = policies(FailureMode.DEPENDENCY_ISSUE, retry_delay=2).recover
    assert recover.retry_on is InstallUnavailable
    assert recover.delays == (2, 4, 8)


@pytest.mark.parametrize(
    "mode", [None, *(mode for mode in FailureMode if mode is not FailureMode.DEPENDENCY_ISSUE)]
)
def test_no_other_recovery_is_retried(mode):
    assert policies(mode).recover.retries == 0


@pytest.mark.parametrize("mode", [None, *FailureMode])
def test_only_passing_agent_errors_repeat_an_agent_call(mode):
    """And for a loop that was told to do something else not even these: the flow waits, visibly."""
    wanted = None if mode is FailureMode.INFINITE_LOOP else AgentUnavailable
    assert policies(mode).iterate.retry_on is wanted


@pytest.mark.parametrize("mode", [None, *FailureMode])
def test_a_task_is_never_given_up_before_its_own_process_limit(mode):
    """Otherwise a second agent would be started beside the first."""
    found = policies(mode, agent_timeout=100, gate_timeout=50, test=("a", "b"), accept="c")
    assert found.iterate.timeout > 100
    assert found.gate.timeout > 50 * 3


@pytest.mark.parametrize(("proof", "gates"), [(False, 1), (True, 1 + COUNTER_PROOF_RUNS)])
@pytest.mark.parametrize("mode", [None, *FailureMode])
def test_a_gate_that_also_runs_the_tests_of_the_start_has_the_time_for_that(mode, proof, gates):
    """Every command and the acceptance, as often as the counter-proof may run them, and not as long without it."""
    one_gate = 1000 * 3
    limit = policies(mode, gate_timeout=1000, test=("a", "b"), accept="c", counter_proof=proof).gate.timeout
    assert one_gate * gates < limit < one_gate * (gates + 1)


@pytest.mark.parametrize("mode", [None, *FailureMode])
def test_a_second_agent_has_its_own_time_and_that_of_every_gate_with_its_tests(mode):
    limit = policies(mode, agent_timeout=5000, gate_timeout=1000, test=("a", "b")).falsify.timeout
    assert limit > 5000 + ATTEMPTS * 1000 * 2


def test_backoff_doubles_up_to_a_limit():
    delays = RetryPolicy.backoff(20, on=AgentUnavailable, first=30).delays
    assert delays[:3] == (30, 60, 120)
    assert max(delays) == delays[-1] == LONGEST_DELAY
    assert len(delays) == 20


def test_get_recovery_strategy_is_the_seeds_json_and_an_unknown_mode_retries_plainly():
    found = get_recovery_strategy("test_flakiness")
    assert {"mode", "action", "args", "description", "max_retries_override"} <= found.keys()
    assert get_recovery_strategy("no-such-mode")["action"] == "standard_retry"
