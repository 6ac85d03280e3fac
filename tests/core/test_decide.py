"""What comes next: completion by proof only, limits that mean what they say, restarts that end."""

from __future__ import annotations

import pytest

from buildloop.decide import Continue, Restart, Stop, decide, proof_of
from buildloop.diagnosis.model import FailureMode
from buildloop.models import AgentOutcome, ContextSummary, LadderStep, Usage, Verdict
from buildloop.report.outcome import NEXT_STEPS
from buildloop.result import EXIT_CODES, StopReason
from tests.support.states import GREEN, RED, iteration, report, state

CHANGED = report(Verdict.PASSED, tree="tree-1")
FULL = Usage(context_tokens=150_000)
SUMMARY = ContextSummary(session=1, iteration=1, reason="context_exhaustion", text="s")


def reason(decision: object) -> StopReason | None:
    return decision.reason if isinstance(decision, Stop) else None


def test_red_at_first_and_green_now_is_complete():
    assert reason(decide(state(iteration(0, RED), iteration(1, CHANGED)))) is StopReason.COMPLETE


def test_a_red_gate_is_never_complete_whatever_the_agent_says():
    claimed = iteration(1, report(tree="tree-1"), claims_done=True)
    assert decide(state(iteration(0, RED), claimed)) == Continue()


def test_a_green_baseline_is_not_the_end_of_the_run():
    assert decide(state(iteration(0, GREEN))) == Continue()


@pytest.mark.parametrize(
    ("changed", "claimed", "accept", "complete"),
    [
        (True, True, None, True),
        (True, False, "make accept", True),
        (True, True, "make accept", True),
        (True, False, None, False),
        (False, True, None, False),
        (False, False, "make accept", False),
        (False, True, "make accept", False),
    ],
)
def test_green_from_the_start_completes_by_a_change_and_a_claim_or_the_acceptance(
    changed, claimed, accept, complete
):
    gate = CHANGED if changed else GREEN
    now = state(iteration(0, GREEN), iteration(1, gate, claims_done=claimed), accept=accept)
    assert (reason(decide(now)) is StopReason.COMPLETE) == complete
    assert bool(proof_of(now, now.last).missing) == (not complete)


def test_what_is_missing_is_said_in_words():
    unchanged = state(iteration(0, GREEN), iteration(1, GREEN, claims_done=True))
    assert "changed nothing" in proof_of(unchanged, unchanged.last).missing
    unclaimed = state(iteration(0, GREEN), iteration(1, CHANGED))
    assert "BUILDLOOP-DONE" in proof_of(unclaimed, unclaimed.last).missing


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_n_iterations_mean_n(limit):
    done = [iteration(n, RED) for n in range(limit + 1)]
    assert decide(state(*done[:-1], max_iterations=limit)) == Continue()
    assert reason(decide(state(*done, max_iterations=limit))) is StopReason.MAX_ITERATIONS


def test_green_in_the_last_iteration_is_complete_not_over_the_limit():
    now = state(iteration(0, RED), iteration(1, CHANGED), max_iterations=1)
    assert reason(decide(now)) is StopReason.COMPLETE


def test_green_with_a_full_context_is_complete_not_restarted():
    now = state(iteration(0, RED), iteration(1, CHANGED, usage=FULL))
    assert reason(decide(now)) is StopReason.COMPLETE


@pytest.mark.parametrize(
    "full",
    [
        iteration(1, RED, usage=FULL),
        iteration(1, RED, outcome=AgentOutcome.OVERFLOW),
        iteration(1, RED, mode=FailureMode.CONTEXT_EXHAUSTION),
    ],
)
def test_a_full_context_starts_a_new_session(full):
    assert decide(state(iteration(0, RED), full)) == Restart("context_exhaustion")


def test_a_restart_is_followed_by_an_iteration_not_by_another_restart():
    now = state(iteration(0, RED), iteration(1, RED, usage=FULL)).restarted(SUMMARY)
    assert decide(now) == Continue()


def test_no_restart_is_left():
    now = state(iteration(0, RED), iteration(1, RED, usage=FULL), max_restarts=0)
    assert reason(decide(now)) is StopReason.MAX_RESTARTS


def test_context_exhaustion_grants_two_more_restarts_up_to_the_hard_cap():
    full = iteration(1, RED, mode=FailureMode.CONTEXT_EXHAUSTION)
    assert state(iteration(0, RED), full, max_restarts=2).max_restarts == 4
    assert state(iteration(0, RED), full, max_restarts=4).max_restarts == 5
    assert state(iteration(0, RED), full, max_restarts=0).max_restarts == 0


def test_endless_full_contexts_end():
    """Every session fills up at once: the hard cap ends it after five restarts."""
    now, restarts = state(iteration(0, RED), max_restarts=5, max_iterations=100), 0
    for number in range(1, 50):
        full = iteration(number, RED, session=now.session, usage=FULL, mode=FailureMode.CONTEXT_EXHAUSTION)
        now = now.with_iteration(full)
        if isinstance(decide(now), Stop):
            break
        now, restarts = now.restarted(SUMMARY), restarts + 1
    assert reason(decide(now)) is StopReason.MAX_RESTARTS
    assert restarts == 5


def test_a_loop_that_stays_stuck_needs_a_person():
    told = iteration(1, RED, mode=FailureMode.INFINITE_LOOP, step=LadderStep.DECOMPOSE)
    assert decide(state(iteration(0, RED), told)) == Continue()
    at_the_end = iteration(2, RED, mode=FailureMode.INFINITE_LOOP, step=LadderStep.ASK_A_PERSON)
    assert reason(decide(state(iteration(0, RED), told, at_the_end))) is StopReason.STUCK


def test_being_stuck_cuts_the_iterations_that_are_left():
    now = state(iteration(0, RED), iteration(1, RED, mode=FailureMode.INFINITE_LOOP), max_iterations=50)
    assert now.max_iterations == 11
    assert state(iteration(0, RED), iteration(1, RED, mode=FailureMode.INFINITE_LOOP)).max_iterations <= 20


def test_every_reason_has_an_exit_code_and_a_next_step():
    assert set(EXIT_CODES) == set(StopReason) == set(NEXT_STEPS)
    assert [reason for reason, code in EXIT_CODES.items() if code == 0] == [
        StopReason.COMPLETE,
        StopReason.ACCEPTED,
    ]
