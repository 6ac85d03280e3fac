"""A gate run and everything that follows from its answer without calling the agent again."""

from __future__ import annotations

from dataclasses import replace

from buildloop.attempts import attempts_of, attempts_since_redirect, flaky_tests
from buildloop.decide import proof_of
from buildloop.diagnosis.fingerprint import fingerprint_reading
from buildloop.diagnosis.model import Attempt, FailureMode
from buildloop.diagnosis.stuck import detect_infinite_loop
from buildloop.falsify import refuted
from buildloop.models import (
    CounterProof,
    GateReport,
    Iteration,
    LadderStep,
    Recovery,
    Remedy,
    Strategy,
    Usage,
)
from buildloop.recovery.ecosystems import declares_anew
from buildloop.recovery.forbidden import returns_to_red_tree
from buildloop.recovery.ladder import step_when_stuck, upgrade_is_due
from buildloop.recovery.plain import PLAIN, plain_recovery
from buildloop.recovery.policy import retry_policy
from buildloop.recovery.redirect import redirect_note
from buildloop.recovery.rerun.merge import merge_rerun
from buildloop.recovery.rerun.narrow import covers, narrowed_gate
from buildloop.recovery.strategies import strategy_for
from buildloop.state import LoopState
from tasks.classify import ClassifyInput, classify
from tasks.falsify import FalsifyInput, falsify
from tasks.gate import GateInput, gate
from tasks.options import as_one, configured, step_key
from tasks.recover import RecoverInput, recover

# Each of these is tried at most once on one tree; they need no agent, only another gate run.
WITHOUT_AGENT = ("rerun_tests", "reinstall_deps")


def settled(state: LoopState, iteration: Iteration) -> Iteration:
    """Diagnose a red gate and recover; as long as that needs no agent, gate the same tree again."""
    tried: set[str] = set()
    for _ in range(len(WITHOUT_AGENT) + 2):
        if iteration.gate.passed:
            iteration = _proven(state, iteration)
            if iteration.gate.passed:
                return iteration
        if not tried and state.worth_probing(iteration.gate):
            iteration = iteration.with_report(_rerun(state, iteration, "probe", None))
        remedy = _remedy(state, iteration)
        iteration = iteration.with_remedy(remedy)
        action = remedy.recovery.strategy.action
        if action not in WITHOUT_AGENT or action in tried or not remedy.recovery.helped:
            return _proven(state, iteration) if iteration.gate.passed else iteration
        tried.add(action)
        if action == "reinstall_deps":
            iteration = iteration.after_install()
        again = _rerun if action == "rerun_tests" else _gate_again
        iteration = iteration.with_report(again(state, iteration, action, remedy.recovery.strategy))
    return iteration


def _rerun(state: LoopState, iteration: Iteration, step: str, strategy: Strategy | None) -> GateReport:
    """Only the failing tests where the runner can be told so, else the whole gate."""
    first = next(report for report in reversed(iteration.reports) if not report.passed)
    narrowed = narrowed_gate(state.request.test, first)
    if narrowed is not None:
        rerun = _gate_again(state, iteration, f"{step}-failing", strategy, (narrowed,), whole=False)
        if covers(rerun.reading, first.reading):
            return merge_rerun(first, rerun)
    return _gate_again(state, iteration, step, strategy)


def _proven(state: LoopState, iteration: Iteration) -> Iteration:
    """Green counts only after a fresh run of every command on the committed tree."""
    if iteration.agent is None or not proof_of(state, iteration).possible:
        return iteration
    request = state.request
    commands = (*request.test, *((request.accept,) if request.accept else ()))
    strategy = _reruns_if_flaky(state, iteration)
    verified = iteration.with_report(_gate_again(state, iteration, "verify", strategy, commands))
    return _falsified(state, verified) if verified.gate.passed and request.falsifier else verified


def _falsified(state: LoopState, iteration: Iteration) -> Iteration:
    """One try of the second agent in a run; what it found once is run again on every later green."""
    request, earlier = state.request, state.refutation
    if earlier is not None and not earlier.refuted:
        return iteration
    try_it = configured(falsify, retry_policy(None, request).falsify, request)
    found = try_it(
        step_key(request, state.session, iteration.number, "falsify", iteration.gate.tree),
        as_one(
            FalsifyInput(
                request=request,
                workspace=state.workspace,
                session=state.session,
                number=iteration.number,
                commit=iteration.head or state.head,
                tree=iteration.gate.tree,
                environment=state.environment_after(iteration),
                tests=earlier.tests if earlier else (),
            )
        ),
    )
    return iteration.with_report(refuted(iteration.gate, found))


def _reruns_if_flaky(state: LoopState, iteration: Iteration) -> Strategy | None:
    """Where flakiness was seen, the last proof gets the reruns too."""
    seen = state.flaky_seen or any(r.diagnosis.mode is FailureMode.TEST_FLAKINESS for r in iteration.remedies)
    return strategy_for(FailureMode.TEST_FLAKINESS) if seen else None


def _remedy(state: LoopState, iteration: Iteration) -> Remedy:
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


def run_gate(
    state: LoopState,
    step: str,
    commit: str,
    tree: str,
    *,
    number: int,
    turn: int = 1,
    must_run: bool = False,
    strategy: Strategy | None = None,
    commands: tuple[str, ...] | None = None,
    environment: dict[str, str] | None = None,
    whole: bool = True,
    counter_proof: CounterProof | None = None,
) -> GateReport:
    run = configured(gate, retry_policy(strategy, state.request).gate, state.request)
    return run(
        step_key(state.request, state.session, number, f"{step}-{turn}", tree),
        as_one(
            GateInput(
                request=state.request,
                workspace=state.workspace,
                session=state.session,
                number=number,
                step=step,
                before=state.head,
                commit=commit,
                tree=tree,
                commands=commands or state.request.test,
                environment=environment if environment is not None else state.environment,
                baseline=state.baseline.gate.reading if state.iterations and whole else None,
                must_run=must_run,
                counter_proof=counter_proof,
            )
        ),
    )


def _gate_again(
    state: LoopState,
    iteration: Iteration,
    step: str,
    strategy: Strategy | None,
    commands: tuple[str, ...] | None = None,
    *,
    whole: bool = True,
) -> GateReport:
    return run_gate(
        state,
        step,
        iteration.head or state.head,
        iteration.gate.tree,
        number=iteration.number,
        turn=len(iteration.reports) + 1,
        strategy=strategy,
        commands=commands,
        environment=state.environment_after(iteration),
        whole=whole,
        counter_proof=next((one.counter_proof for one in iteration.comparable if one.counter_proof), None),
    )
