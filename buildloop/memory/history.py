"""What memory says before the next prompt, and what it learns after the iteration."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from buildloop.diagnosis.model import FailureMode, Finding
from buildloop.memory.actions import default_keys, generate_suggested_actions
from buildloop.memory.changes import describe_change
from buildloop.memory.facts import class_subject, confirm_fix, remember_failure, repo_number, settle_failure
from buildloop.memory.model import History, Moment, Recalled, SimilarFailure, Suggestion
from buildloop.memory.outcomes import (
    Outcome,
    as_failure,
    finding_class,
    last_outcomes,
    red_findings,
    stage_of,
)
from buildloop.memory.recall import Emit, Scope, record_of, similar_failures, timestamp
from buildloop.memory.store import LOOKUP_SECONDS, Store
from buildloop.memory.suggestions import files_of_shown_fixes, resolve_outstanding_suggestions
from buildloop.memory.words import message_of, test_of
from buildloop.redact import Redactor
from buildloop.state import LoopState
from buildloop.text import one_line

MOST_RECALLED = 3
ASKED_ABOUT = 6


def recall_history(store: Store, state: LoopState, now: int) -> History:
    """What earlier runs know about the failures of the last gate. The first failure always gets suggestions; the
    others only where a fix is known."""
    scope = Scope(state.workspace.repo_id, state.request.shared_memory)
    asked = dict(list(red_findings(state.last.gate).items())[:ASKED_ABOUT])
    with store.within(LOOKUP_SECONDS):
        recalled = []
        for print_, finding in asked.items():
            similar = _worth_telling(similar_failures(store, finding, 3, scope), state, asked)
            recalled.append(_recalled(store, state, print_, finding, similar, now))
    with_fix = [one for one in recalled[1:] if any(action.fix for action in one.actions)]
    return History(recalled=tuple([*recalled[:1], *with_fix][:MOST_RECALLED]))


def learn(store: Store, state: LoopState, now: int, redact: Redactor, emit: Emit) -> list[Outcome]:
    """Remember the last iteration: what was red, what went green and by which change, what that says about the
    suggestions that were shown."""
    outcomes = last_outcomes(state)
    repo, last = state.workspace.repo_id, state.last
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
    repo = repo_number(store, state.workspace.repo_id)
    error_class, stage = finding_class(finding), stage_of(finding)
    records = {key: record_of(store, repo, key) for key in default_keys(error_class, stage)}
    overall = record_of(store, repo, class_subject(error_class))
    actions = generate_suggested_actions(error_class, stage, similar, records=records, overall=overall)
    run, iteration = str(state.request.run_id), state.number + 1
    suggestion = Suggestion(
        id=f"{run}-s{state.session}-i{iteration}-{print_.rpartition(':')[2][:8]}",
        category=error_class,
        stage=stage,
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


def _worth_telling(
    found: Sequence[SimilarFailure], state: LoopState, asked: Collection[str]
) -> tuple[SimilarFailure, ...]:
    """A failure that only this run has met, and that nothing has cured yet, is no history; one that is similar and
    red here too speaks for itself."""
    own = str(state.request.run_id)
    return tuple(
        one
        for one in found
        if (one.fixes or one.last_run != own) and (one.exact or one.fingerprint not in asked)
    )


def _confirm(
    store: Store, state: LoopState, outcome: Outcome, at: Moment, now: int, redact: Redactor
) -> None:
    agent = state.last.agent
    assert agent is not None
    change = describe_change(
        Path(state.workspace.root),
        outcome.failure.first_red,
        outcome.failure.last_red,
        agent.checkpoint.commit,
        agent.reply.text,
        redact,
    )
    first, run = outcome.failure.at.iteration, at.run
    shown = files_of_shown_fixes(store, run, outcome.fingerprint, first, at.iteration)
    # A fix that was shown gets its credit as a suggestion; the same change must not count for it twice.
    if change is not None and shown.isdisjoint(change.files):
        confirm_fix(store, state.workspace.repo_id, outcome.fingerprint, change, at, now)
