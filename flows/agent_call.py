"""One answer from an agent of the request's ladder: waits for the one that is limited, goes on to the next when
one does not answer at all."""

from __future__ import annotations

import time

from buildloop.agents.choice import AgentChoice
from buildloop.context.session import session_to_continue
from buildloop.errors import AgentLimited, AgentRefused, AgentUnavailable
from buildloop.memory.model import History
from buildloop.models import AgentRun
from buildloop.people.hints import unheard
from buildloop.prompt.compose import compose_prompt
from buildloop.recovery.policy import AGENT_RETRIES, RetryPolicy, retry_policy
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from tasks.iterate import IterateInput, iterate
from tasks.options import as_one, configured, step_key
from tasks.remember import recall
from tasks.wait import WaitInput, wait

# With another agent at hand nobody waits longer than this for the one that is limited.
PATIENCE_WITH_ALTERNATIVE = 600.0


def call_agent(state: LoopState, number: int) -> AgentRun:
    rung = state.rung
    while True:
        try:
            return _answer(state, number, rung)
        except (AgentUnavailable, AgentRefused) as error:
            following = _next_rung(state.request.agents, rung, error)
            if following is None:
                raise
            RunDir(state.request.run_dir).events.emit(
                "loop.agent_changed",
                iteration=number,
                agent=str(state.request.agents[following]),
                before=str(state.request.agents[rung]),
                why=str(error),
            )
            rung = following


def _answer(state: LoopState, number: int, rung: int) -> AgentRun:
    for attempt in range(1, AGENT_RETRIES + 1):
        try:
            return _call(state, number, rung)
        except AgentUnavailable as error:
            if _iterate_policy(state).retries or attempt == AGENT_RETRIES:
                raise
            until = time.time() + state.request.retry_delay * 2 ** (attempt - 1)
            wait(WaitInput(state.request, number, attempt, until, str(error)))
        except AgentLimited as limited:
            seconds = limited.reset_at - time.time()
            if seconds > _patience(state, rung) or attempt == AGENT_RETRIES:
                when = time.strftime("%Y-%m-%d %H:%M", time.localtime(limited.reset_at))
                raise AgentUnavailable(f"{limited}; it will answer again at {when}") from None
            wait(WaitInput(state.request, number, attempt, limited.reset_at, str(limited)))
    raise AssertionError("the last attempt returns or raises")


def _call(state: LoopState, number: int, rung: int) -> AgentRun:
    run_agent = configured(iterate, _iterate_policy(state), state.request)
    hints = unheard(state.request.run_dir, state.heard)
    texts = [hint.text for hint in hints]
    return run_agent(
        step_key(state.request, state.session, number, "iterate"),
        as_one(
            IterateInput(
                request=state.request,
                workspace=state.workspace,
                session=state.session,
                number=number,
                base=state.head,
                prompt=compose_prompt(state, _recalled(state, number, texts), texts),
                heard=tuple(hint.id for hint in hints),
                environment=state.environment,
                max_iterations=state.max_iterations,
                last_passed=state.last.gate.passed,
                rung=rung,
                resume=session_to_continue(
                    state.request, str(state.request.agents[rung]), state.last, state.session
                ),
            )
        ),
    )


def _recalled(state: LoopState, number: int, hints: list[str]) -> History:
    """What earlier runs know about the failure at hand; asked once an iteration, whoever answers it."""
    if state.recalled is not None:
        return state.recalled
    ask = configured(recall, retry_policy(None, state.request).recover, state.request)
    return ask(step_key(state.request, state.session, number, "recall"), as_one(state), hints)


def _iterate_policy(state: LoopState) -> RetryPolicy:
    strategy = state.last.recovery.strategy if state.last.recovery else None
    return retry_policy(strategy, state.request).iterate


def _patience(state: LoopState, rung: int) -> float:
    has_other = _next_rung(state.request.agents, rung, AgentUnavailable()) is not None
    return min(state.request.max_wait, PATIENCE_WITH_ALTERNATIVE) if has_other else state.request.max_wait


def _next_rung(agents: tuple[AgentChoice, ...], rung: int, error: Exception) -> int | None:
    """A refusal may concern one model; an agent that does not answer will not do so with another model either."""
    for place in range(rung + 1, len(agents)):
        if isinstance(error, AgentRefused) or agents[place].agent != agents[rung].agent:
            return place
    return None
