"""The steps of the loop: each takes where the run stands and returns where it stands afterwards."""

from __future__ import annotations

from dataclasses import replace

from buildloop.context.summary import SummaryFacts
from buildloop.decide import proof_of
from buildloop.diagnosis.fingerprint import fingerprint
from buildloop.models import Iteration
from buildloop.prompt.compose import describe
from buildloop.recovery.policy import retry_policy
from buildloop.state import LoopState
from flows.agent_call import call_agent
from flows.settle import run_gate, settled
from tasks.options import as_one, configured, step_key
from tasks.record import record
from tasks.restart import RestartInput, restart


def first_gate(state: LoopState) -> LoopState:
    """The baseline: what the gate says before the agent touches anything."""
    report = run_gate(state, "gate", state.head, state.workspace.start_tree, number=0, must_run=True)
    baseline = Iteration(session=state.session, number=0, reports=(report,))
    return _recorded(state, settled(state, baseline))


def next_iteration(state: LoopState) -> LoopState:
    """Prompt, agent, checkpoint, gate; and whatever the diagnosis of a red gate asks for."""
    number = state.number + 1
    agent = call_agent(state, number)
    report = run_gate(state, "gate", agent.checkpoint.commit, agent.checkpoint.tree, number=number)
    iteration = Iteration(session=state.session, number=number, reports=(report,), agent=agent)
    return _recorded(state, settled(state, iteration))


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
            files=list(state.tally.files),
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
    begin_anew = configured(restart, retry_policy(None, request).recover, request)
    return state.restarted(
        begin_anew(step_key(request, state.session, state.number, "restart"), as_one(given))
    )


def _recorded(state: LoopState, iteration: Iteration) -> LoopState:
    after = state.with_iteration(iteration)
    iteration = iteration.model_copy(update={"context_pct": after.context_pct})
    after = replace(after, iterations=(*state.iterations, iteration))
    if iteration.gate.passed and (missing := proof_of(after, iteration).missing):
        after = after.with_note(missing)
    write_down = configured(record, retry_policy(None, state.request).recover, state.request)
    noted = write_down(step_key(state.request, state.session, iteration.number, "recorded"), as_one(after))
    return replace(after, recalled=noted.recalled)
