"""The steps of the loop: each takes where the run stands and returns where it stands afterwards."""

from __future__ import annotations

from dataclasses import replace

from buildloop.context.summary import SummaryFacts
from buildloop.decide import proof_of, redirects_used
from buildloop.diagnosis.fingerprint import fingerprint, fingerprint_reading
from buildloop.diagnosis.model import Attempt, FailureMode
from buildloop.diagnosis.stuck import detect_infinite_loop
from buildloop.models import GateReport, Iteration, Remedy, Strategy, Usage
from buildloop.prompt.compose import compose_prompt, describe
from buildloop.recovery.install import declares_anew
from buildloop.recovery.policy import retry_policy
from buildloop.recovery.redirect import redirect_note
from buildloop.recovery.strategies import strategy_for
from buildloop.state import LoopState, attempts_of, attempts_since_redirect
from tasks.classify import ClassifyInput, classify
from tasks.gate import GateInput, gate
from tasks.iterate import IterateInput, iterate
from tasks.options import step_key, task_options
from tasks.record import record
from tasks.recover import RecoverInput, recover
from tasks.restart import RestartInput, restart

# Each of these is tried at most once on one tree; they need no agent, only another gate run.
WITHOUT_AGENT = ("rerun_tests", "reinstall_deps")


def first_gate(state: LoopState) -> LoopState:
    """The baseline: what the gate says before the agent touches anything."""
    report = _gate(state, "gate", state.head, state.workspace.start_tree, number=0, must_run=True)
    baseline = Iteration(session=state.session, number=0, reports=(report,))
    return _recorded(state, _settled(state, baseline))


def next_iteration(state: LoopState) -> LoopState:
    """Prompt, agent, checkpoint, gate; and whatever the diagnosis of a red gate asks for."""
    strategy = state.last.recovery.strategy if state.last.recovery else None
    number = state.number + 1
    run_agent = iterate.with_options(
        **task_options(retry_policy(strategy, state.request).iterate, state.request)
    )
    agent = run_agent(
        step_key(state.request, state.session, number, "iterate"),
        IterateInput(
            request=state.request,
            workspace=state.workspace,
            session=state.session,
            number=number,
            base=state.head,
            prompt=compose_prompt(state),
            environment=state.environment,
            max_iterations=state.max_iterations,
            last_passed=state.last.gate.passed,
        ),
    )
    report = _gate(state, "gate", agent.checkpoint.commit, agent.checkpoint.tree, number=number)
    iteration = Iteration(session=state.session, number=number, reports=(report,), agent=agent)
    return _recorded(state, _settled(state, iteration))


def end_session(state: LoopState, reason: str) -> LoopState:
    """Restart: the summary of this session is the task result that the next one receives."""
    request, last = state.request, state.last
    given = RestartInput(
        request=request,
        session=state.session,
        number=state.number,
        max_restarts=state.max_restarts,
        reason=reason,
        facts=SummaryFacts(
            goal=request.goal,
            iteration=state.number,
            max_iterations=state.max_iterations,
            status=reason,
            tests=last.gate.in_words,
            usage_pct=state.context_pct,
            files=_files_changed(state),
            errors=last.gate.reading.error_lines,
            fingerprints=[fingerprint(finding) for finding in last.gate.reading.findings],
            tried=[describe(one)[2:] for one in reversed(state.iterations) if one.agent],
            log=[
                one.agent.reply.text
                for one in reversed(state.iterations)
                if one.agent and one.agent.reply.text
            ],
        ),
    )
    begin_anew = restart.with_options(**task_options(retry_policy(None, request).recover, request))
    return state.restarted(begin_anew(step_key(request, state.session, state.number, "restart"), given))


def _settled(state: LoopState, iteration: Iteration) -> Iteration:
    """Diagnose a red gate and recover; as long as that needs no agent, gate the same tree again."""
    tried: set[str] = set()
    for _ in range(len(WITHOUT_AGENT) + 2):
        if iteration.gate.passed:
            iteration = _proven(state, iteration)
            if iteration.gate.passed:
                return iteration
        if not tried and state.worth_probing(iteration.gate):
            iteration = iteration.with_report(_gate_again(state, iteration, "probe", None))
        remedy = _remedy(state, iteration)
        iteration = iteration.with_remedy(remedy)
        action = remedy.recovery.strategy.action
        if action not in WITHOUT_AGENT or action in tried or not remedy.recovery.helped:
            return iteration
        tried.add(action)
        iteration = iteration.with_report(_gate_again(state, iteration, action, remedy.recovery.strategy))
    return iteration


def _proven(state: LoopState, iteration: Iteration) -> Iteration:
    """Green counts only after a fresh run of every command on the committed tree."""
    if iteration.agent is None or not proof_of(state, iteration).possible:
        return iteration
    request = state.request
    commands = (*request.test, *((request.accept,) if request.accept else ()))
    strategy = _reruns_if_flaky(state, iteration)
    return iteration.with_report(_gate_again(state, iteration, "verify", strategy, commands))


def _reruns_if_flaky(state: LoopState, iteration: Iteration) -> Strategy | None:
    """Where flakiness was seen, the last proof gets the reruns too."""
    seen = state.flaky_seen or any(r.diagnosis.mode is FailureMode.TEST_FLAKINESS for r in iteration.remedies)
    return strategy_for(FailureMode.TEST_FLAKINESS) if seen else None


def _remedy(state: LoopState, iteration: Iteration) -> Remedy:
    request, number = state.request, iteration.number
    explain = classify.with_options(**task_options(retry_policy(None, request).recover, request))
    turn = len(iteration.remedies) + 1
    history = _history(state, iteration)
    found = explain(
        step_key(request, state.session, number, f"classify-{turn}", iteration.gate.tree),
        ClassifyInput(
            request=request,
            workspace=state.workspace,
            iteration=iteration,
            history=history,
            baseline=state.baseline.gate.reading if state.iterations else None,
        ),
    )
    strategy = strategy_for(found.diagnosis.mode, repeats=detect_infinite_loop(history) is not None)
    failure = fingerprint_reading(iteration.gate.reading)
    act = recover.with_options(**task_options(retry_policy(strategy, request).recover, request))
    seen = replace(state, iterations=(*state.iterations, iteration))
    recovery = act(
        step_key(request, state.session, number, f"recover-{turn}", iteration.gate.tree),
        RecoverInput(
            request=request,
            workspace=state.workspace,
            session=state.session,
            number=number,
            strategy=strategy,
            environment=state.environment_after(iteration),
            restarts=state.restarts,
            tried_before=state.was_tried(strategy.action, failure) and not declares_anew(iteration),
            evidence=found.diagnosis.evidence,
            redirect=redirect_note(seen, redirects_used(state)),
            head=seen.head,
            best_commit=seen.best_commit,
        ),
    )
    return Remedy(
        fingerprint=failure, diagnosis=found.diagnosis, recovery=recovery, error_lines=found.error_lines
    )


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


def _gate(
    state: LoopState,
    step: str,
    commit: str,
    tree: str,
    *,
    number: int,
    must_run: bool = False,
    strategy: Strategy | None = None,
    commands: tuple[str, ...] | None = None,
    environment: dict[str, str] | None = None,
) -> GateReport:
    run = gate.with_options(**task_options(retry_policy(strategy, state.request).gate, state.request))
    return run(
        step_key(state.request, state.session, number, step, tree),
        GateInput(
            request=state.request,
            workspace=state.workspace,
            session=state.session,
            number=number,
            step=step,
            commit=commit,
            tree=tree,
            commands=commands or state.request.test,
            environment=environment if environment is not None else state.environment,
            must_run=must_run,
        ),
    )


def _gate_again(
    state: LoopState,
    iteration: Iteration,
    step: str,
    strategy: Strategy | None,
    commands: tuple[str, ...] | None = None,
) -> GateReport:
    return _gate(
        state,
        step,
        iteration.head or state.head,
        iteration.gate.tree,
        number=iteration.number,
        strategy=strategy,
        commands=commands,
        environment=state.environment_after(iteration),
    )


def _recorded(state: LoopState, iteration: Iteration) -> LoopState:
    after = state.with_iteration(iteration)
    iteration = iteration.model_copy(update={"context_pct": after.context_pct})
    after = replace(after, iterations=(*state.iterations, iteration))
    if iteration.gate.passed and (missing := proof_of(after, iteration).missing):
        after = after.with_note(missing)
    write_down = record.with_options(**task_options(retry_policy(None, state.request).recover, state.request))
    write_down(step_key(state.request, state.session, iteration.number, "record"), after)
    return after


def _files_changed(state: LoopState) -> list[str]:
    points = [one.agent.checkpoint for one in reversed(state.iterations) if one.agent]
    return list(dict.fromkeys(file for point in points for file in point.files))
