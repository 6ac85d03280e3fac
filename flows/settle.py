"""A gate run and everything that follows from its answer without calling the agent again."""

from __future__ import annotations

from buildloop.decide import proof_of
from buildloop.diagnosis.model import FailureMode
from buildloop.falsify import refuted
from buildloop.models import (
    CounterProof,
    GateReport,
    Iteration,
    Strategy,
)
from buildloop.recovery.policy import retry_policy
from buildloop.recovery.rerun.merge import merge_rerun
from buildloop.recovery.rerun.narrow import covers, narrowed_gate
from buildloop.recovery.strategies import strategy_for
from buildloop.state import LoopState
from flows.remedy import remedy_for
from tasks.falsify import FalsifyInput, falsify
from tasks.gate import GateInput, gate
from tasks.options import as_one, configured, step_key

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
        remedy = remedy_for(state, iteration)
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
