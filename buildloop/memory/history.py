"""What memory says before the next prompt, and what it learns after the iteration."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from buildloop.diagnosis.model import FailureMode, Finding
from buildloop.memory.changes import describe_change
from buildloop.memory.facts import confirm_fix, link_remote, remember_failure, settle_failure
from buildloop.memory.known import history_of, proposed_actions
from buildloop.memory.model import History, Moment, Recalled, SimilarFailure, Suggestion
from buildloop.memory.outcomes import (
    Outcome,
    as_failure,
    finding_class,
    last_outcomes,
    red_findings,
    stage_of,
)
from buildloop.memory.recall import Emit, Scope, timestamp
from buildloop.memory.store import LOOKUP_SECONDS, Store
from buildloop.memory.suggestions import files_of_shown_fixes, resolve_outstanding_suggestions
from buildloop.memory.words import message_of, test_of
from buildloop.redact import Redactor
from buildloop.state import LoopState
from buildloop.text import one_line

MOST_RECALLED = 3
ASKED_ABOUT = 6


def recall_history(store: Store, state: LoopState, now: int, seconds: float = LOOKUP_SECONDS) -> History:
    """What earlier runs know about the failures of the last gate. The first failure always gets suggestions; the
    others only where a fix is known."""
    scope = Scope(state.workspace.repo_id, state.request.shared_memory)
    asked = dict(list(red_findings(state.last.gate).items())[:ASKED_ABOUT])
    with store.within(seconds):
        recalled = []
        for print_, finding in asked.items():
            similar = _not_red_here(history_of(store, finding, scope, str(state.request.run_id)), asked)
            recalled.append(_recalled(store, state, print_, finding, similar, now))
    with_fix = [one for one in recalled[1:] if any(action.fix for action in one.actions)]
    return History(recalled=tuple([*recalled[:1], *with_fix][:MOST_RECALLED]))


def learn(store: Store, state: LoopState, now: int, redact: Redactor, emit: Emit) -> list[Outcome]:
    """Remember the last iteration: what was red, what went green and by which change, what that says about the
    suggestions that were shown."""
    outcomes = last_outcomes(state)
    repo, last = state.workspace.repo_id, state.last
    link_remote(store, repo, state.workspace.remote_id)
    at = Moment(run=str(state.request.run_id), session=last.session, iteration=last.number)
    mode = last.diagnosis.mode if last.diagnosis else FailureMode.CODE_ERROR
    for finding in red_findings(last.gate).values():
        remember_failure(store, repo, as_failure(finding, mode, redact), at, now)
    for outcome in outcomes:
        if outcome.fixed is not None and outcome.direct:
            settle_failure(store, repo, outcome.fingerprint, outcome.failure.at, fixed=outcome.fixed)
        if outcome.fixed and outcome.direct:
            _confirm(store, state, outcome, at, now, redact)
    known = {one.fingerprint: one.fixed for one in outcomes if one.fixed is not None}
    resolve_outstanding_suggestions(store, at, known, emit=emit)
    return outcomes


def _recalled(
    store: Store,
    state: LoopState,
    print_: str,
    finding: Finding,
    similar: tuple[SimilarFailure, ...],
    now: int,
) -> Recalled:
    scope = Scope(state.workspace.repo_id, state.request.shared_memory)
    actions = proposed_actions(store, finding, scope, similar)
    run, iteration = str(state.request.run_id), state.number + 1
    suggestion = Suggestion(
        id=f"{run}-s{state.session}-i{iteration}-{print_.rpartition(':')[2][:8]}",
        category=finding_class(finding),
        stage=stage_of(finding),
        actions=tuple(action.text for action in actions),
        timestamp=timestamp(now),
        fingerprint=print_,
        run=run,
        session=state.session,
        iteration=iteration,
        issue=state.request.issue,
        keys=tuple(action.key for action in actions),
        repo=state.workspace.repo_id,
    )
    headline = one_line(": ".join(filter(None, (test_of(finding), message_of(finding)))), 160)
    return Recalled(headline=headline, similar=similar, actions=actions, suggestion=suggestion)


def _not_red_here(found: Sequence[SimilarFailure], asked: Collection[str]) -> tuple[SimilarFailure, ...]:
    """A failure that is similar and red here too speaks for itself."""
    return tuple(one for one in found if one.exact or one.fingerprint not in asked)


def _confirm(
    store: Store, state: LoopState, outcome: Outcome, at: Moment, now: int, redact: Redactor
) -> None:
    agent = state.last.agent
    assert agent is not None
    change = describe_change(
        Path(state.workspace.root),
        outcome.failure.first_red,
        outcome.failure.last_red,
        agent.checkpoint,
        agent.reply.text,
        redact,
    )
    first, run = outcome.failure.at.iteration, at.run
    shown = files_of_shown_fixes(store, run, outcome.fingerprint, first, at.iteration)
    # A fix that was shown gets its credit as a suggestion; the same change must not count for it twice.
    if change is not None and shown.isdisjoint(change.files):
        confirm_fix(store, state.workspace.repo_id, outcome.fingerprint, change, at, now)
