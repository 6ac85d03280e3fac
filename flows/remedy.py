"""What is done about a red gate: its diagnosis, the strategy made for that, and the recovery."""

from __future__ import annotations

from dataclasses import replace

from buildloop.attempts import attempts_of, attempts_since_redirect, flaky_tests
from buildloop.diagnosis.fingerprint import fingerprint_reading
from buildloop.diagnosis.model import Attempt
from buildloop.diagnosis.stuck import detect_infinite_loop
from buildloop.models import Iteration, LadderStep, Recovery, Remedy, Strategy, Usage
from buildloop.recovery.ecosystems import declares_anew
from buildloop.recovery.forbidden import returns_to_red_tree
from buildloop.recovery.ladder import step_when_stuck, upgrade_is_due
from buildloop.recovery.plain import PLAIN, plain_recovery
from buildloop.recovery.policy import retry_policy
from buildloop.recovery.redirect import redirect_note
from buildloop.recovery.strategies import strategy_for
from buildloop.state import LoopState
from tasks.classify import ClassifyInput, classify
from tasks.options import as_one, configured, step_key
from tasks.recover import RecoverInput, recover


def remedy_for(state: LoopState, iteration: Iteration) -> Remedy:
    request, number = state.request, iteration.number
    explain = configured(classify, retry_policy(None, request).recover, request)
    turn = len(iteration.remedies) + 1
    history = _history(state, iteration)
    found = explain(
        step_key(request, state.session, number, f"classify-{turn}", iteration.gate.tree),
        as_one(
            ClassifyInput(
                request=request,
                workspace=state.workspace,
                iteration=iteration,
                history=history,
                baseline=state.baseline.gate.reading if state.iterations else None,
            )
        ),
    )
    strategy = strategy_for(
        found.diagnosis.mode,
        repeats=detect_infinite_loop(history) is not None,
        returned=returns_to_red_tree(state, iteration),
    )
    failure = fingerprint_reading(iteration.gate.reading)
    seen = replace(state, iterations=(*state.iterations, iteration))
    step = _ladder_step(seen, strategy, failure)
    rung = seen.rung + 1 if step is LadderStep.NEXT_AGENT else None
    given = RecoverInput(
        request=request,
        workspace=state.workspace,
        session=state.session,
        number=number,
        strategy=strategy,
        environment=state.environment_after(iteration),
        restarts=state.restarts,
        tried_before=state.was_tried(strategy.action, failure) and not declares_anew(iteration),
        flaky=tuple(sorted(flaky_tests(iteration))),
        tree=iteration.gate.tree,
        evidence=found.diagnosis.evidence,
        step=step,
        rung=rung,
        redirect=redirect_note(seen, step) if step else "",
        head=seen.head,
        best_commit=seen.best_commit,
    )
    return Remedy(
        fingerprint=failure,
        diagnosis=found.diagnosis,
        recovery=_recovery(given, turn),
        error_lines=found.error_lines,
    )


def _recovery(given: RecoverInput, turn: int) -> Recovery:
    """A task where something has to be done."""
    request, strategy = given.request, given.strategy
    if strategy.action in PLAIN:
        return plain_recovery(request, strategy, given.step, given.rung)
    act = configured(recover, retry_policy(strategy, request).recover, request)
    return act(step_key(request, given.session, given.number, f"recover-{turn}", given.tree), as_one(given))


def _ladder_step(state: LoopState, strategy: Strategy, failure: str) -> LadderStep | None:
    if strategy.action == "reduce_and_redirect":
        return step_when_stuck(state, failure)
    upgrade = strategy.action == "standard_retry" and upgrade_is_due(state, failure)
    return LadderStep.NEXT_AGENT if upgrade else None


def _history(state: LoopState, iteration: Iteration) -> tuple[Attempt, ...]:
    """What is known up to this red gate; the fill of the session stands in where the agent reports none."""
    own = attempts_of(iteration)
    usage = iteration.agent.reply.usage if iteration.agent else Usage()
    if usage.context_tokens is None and iteration.agent is not None:
        seen = replace(state, iterations=(*state.iterations, iteration))
        own = [replace(attempt, context_tokens=sum(seen.fill)) for attempt in own]
    red = next((i for i in range(len(own) - 1, -1, -1) if not own[i].passed), len(own) - 1)
    ordered = [attempt for i, attempt in enumerate(own) if i != red] + [own[red]]
    return (*attempts_since_redirect(state), *ordered)
