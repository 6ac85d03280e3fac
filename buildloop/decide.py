"""What comes next: one pure function from where the run stands to one of three decisions."""

from __future__ import annotations

from dataclasses import dataclass

from buildloop.diagnosis.model import FailureMode
from buildloop.models import AgentOutcome, Iteration, LadderStep
from buildloop.result import StopReason
from buildloop.state import LoopState


@dataclass(frozen=True, slots=True)
class Continue:
    """Another iteration in this session."""


@dataclass(frozen=True, slots=True)
class Restart:
    """A new session, briefed by the summary of this one."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stop:
    reason: StopReason
    explanation: str


Decision = Continue | Restart | Stop


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a green gate completes the run, and if not, what is still missing."""

    possible: bool
    missing: str = ""


def proof_of(state: LoopState, iteration: Iteration) -> Proof:
    """The completion rule. What an agent says can be necessary; it is never sufficient."""
    if not state.baseline.gate.passed:
        return Proof(True)
    if iteration.gate.tree == state.baseline.gate.tree:
        return Proof(False, "The gate was green before you started and you have changed nothing yet.")
    if state.request.accept is not None or (iteration.agent and iteration.agent.reply.claims_done):
        return Proof(True)
    return Proof(
        False,
        "The gate is green, but it was green before you started, so that proves nothing. Finish the goal; "
        "when it is fully met, end your reply with the line BUILDLOOP-DONE.",
    )


def decide(state: LoopState) -> Decision:
    """The decision after the last iteration (or after the baseline). Order matters: success first, then limits,
    then the state of the session."""
    last = state.last
    if last.gate.passed and state.number > 0 and proof_of(state, last).possible:
        return Stop(StopReason.COMPLETE, _why_complete(state))
    return _limit_reached(state) or _session_over(state) or Continue()


def _limit_reached(state: LoopState) -> Stop | None:
    answered = state.answered_at == state.number
    tampered = any(one.blocks for one in state.last.gate.tampering)
    if state.request.human and tampered and not answered:
        return Stop(
            StopReason.STUCK,
            "The tests or the gate were changed, so green would prove nothing; a person decides.",
        )
    asked = state.last.recovery is not None and state.last.recovery.step is LadderStep.ASK_A_PERSON
    if asked and not answered:
        others = ", and another agent was tried" if state.rung else ""
        return Stop(
            StopReason.STUCK,
            "The same failure stayed although the agent was told to take another approach and to decompose the "
            f"problem{others}; a person has to look at it.",
        )
    if state.number >= state.max_iterations:
        return Stop(
            StopReason.MAX_ITERATIONS,
            f"All {state.max_iterations} iterations{_changed_limit(state)} were used; the gate is {_gate(state)}.",
        )
    return None


def _changed_limit(state: LoopState) -> str:
    if state.extensions:
        return (
            f" ({state.request.max_iterations} and {state.extensions} × {state.request.extension_size} more)"
        )
    return "" if state.max_iterations >= state.request.max_iterations else " (cut because it was stuck)"


def _session_over(state: LoopState) -> Decision | None:
    agent = state.last.agent
    overflow = agent is not None and agent.reply.outcome is AgentOutcome.OVERFLOW
    diagnosed = (
        state.last.diagnosis is not None and state.last.diagnosis.mode is FailureMode.CONTEXT_EXHAUSTION
    )
    if not (overflow or diagnosed or state.context_due) or state.last.session != state.session:
        return None
    if state.restarts >= state.max_restarts:
        return Stop(
            StopReason.MAX_RESTARTS,
            f"The context is full ({state.context_pct} %) and all {state.max_restarts} restarts were used.",
        )
    return Restart("context_exhaustion")


def _why_complete(state: LoopState) -> str:
    accepted = " and the acceptance command passed" if state.request.accept is not None else ""
    return f"A fresh run of the whole gate on commit {state.head[:10]} is green{accepted}."


def _gate(state: LoopState) -> str:
    report = state.last.gate
    return "green but the goal is not proven" if report.passed else f"red ({report.in_words})"
