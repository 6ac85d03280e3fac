"""Retry policies as data, generated from the strategy. Retry means: the same task with the same input again."""

from __future__ import annotations

from dataclasses import dataclass

from buildloop.diagnosis.model import FailureMode
from buildloop.errors import AgentUnavailable, BuildloopError, GateStillRed, InstallUnavailable
from buildloop.models import Strategy
from buildloop.request import BuildRequest

AGENT_RETRIES = 5
FLAKY_RERUNS = 3
FLAKY_DELAY = 1.0
INSTALL_RETRIES = 3
LONGEST_DELAY = 600.0
JITTER = 0.3
# A task must not be given up while its own process limit still runs: that would start a second agent.
TIMEOUT_MARGIN = 120.0
# Gate runs beside the one itself, each twice: the tests of the start as they were and under new names, other values in
# the product; and those of a second agent.
COUNTER_PROOF_RUNS = 6
FALSIFY_RUNS = 2


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and after what waits (seconds) a task is run again, and for which error. 0 retries: never."""

    retries: int = 0
    delays: tuple[float, ...] = ()
    jitter: float = 0.0
    timeout: float | None = None
    retry_on: type[BuildloopError] | None = None

    @classmethod
    def backoff(
        cls, retries: int, *, on: type[BuildloopError], first: float, timeout: float | None = None
    ) -> RetryPolicy:
        delays = tuple(min(LONGEST_DELAY, first * 2**n) for n in range(retries))
        return cls(retries, delays, JITTER, timeout, on)


@dataclass(frozen=True, slots=True)
class StepPolicies:
    """The policies of the tasks that follow a diagnosis."""

    iterate: RetryPolicy
    gate: RetryPolicy
    recover: RetryPolicy
    falsify: RetryPolicy


def retry_policy(strategy: Strategy | None, request: BuildRequest) -> StepPolicies:
    """Generate the policies that carry out `strategy`; None is the plain start of a run.

    Only passing agent errors repeat an agent call, whatever the mode: a repeated prompt that got an answer
    would be paid twice for nothing.
    """
    mode = strategy.mode if strategy else None
    iterate = RetryPolicy.backoff(
        AGENT_RETRIES,
        on=AgentUnavailable,
        first=request.retry_delay,
        timeout=request.agent_timeout + TIMEOUT_MARGIN,
    )
    if mode == FailureMode.INFINITE_LOOP:
        # Told to do something else, it is not asked the same thing again by the task; the flow waits visibly instead.
        iterate = RetryPolicy(timeout=iterate.timeout)
    one_gate = request.gate_timeout * (len(request.test) + 1)
    gate_time = one_gate * (1 + COUNTER_PROOF_RUNS * request.counter_proof) + TIMEOUT_MARGIN
    falsify_time = request.agent_timeout + FALSIFY_RUNS * one_gate + TIMEOUT_MARGIN
    falsify = RetryPolicy.backoff(
        AGENT_RETRIES, on=AgentUnavailable, first=request.retry_delay, timeout=falsify_time
    )
    gate = RetryPolicy(timeout=gate_time)
    recover = RetryPolicy()
    if mode == FailureMode.TEST_FLAKINESS:
        reruns = FLAKY_RERUNS if strategy is None else strategy.max_retries_override or FLAKY_RERUNS
        gate = RetryPolicy(reruns, (FLAKY_DELAY,) * reruns, JITTER, gate_time, GateStillRed)
    if mode == FailureMode.DEPENDENCY_ISSUE:
        recover = RetryPolicy.backoff(INSTALL_RETRIES, on=InstallUnavailable, first=request.retry_delay)
    return StepPolicies(iterate, gate, recover, falsify)
