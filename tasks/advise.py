"""What a person is told about the failure a run ended with: what memory knows of it, and what to do."""

from __future__ import annotations

import os
import time
from contextlib import closing
from dataclasses import replace

from buildloop.diagnosis.model import Finding
from buildloop.errors import BuildloopError
from buildloop.files import write_atomic
from buildloop.memory import generate_suggested_actions
from buildloop.memory.known import history_of, proposed_actions
from buildloop.memory.location import Kind, memory_location
from buildloop.memory.model import SimilarFailure as Remembered
from buildloop.memory.outcomes import finding_class, red_findings, stage_of
from buildloop.memory.recall import Scope
from buildloop.memory.store import LOOKUP_SECONDS, open_store
from buildloop.redact import redactor
from buildloop.report.advice import Advice, save_advice
from buildloop.report.error_context import format_context_error_report
from buildloop.report.facts import RunFacts, degraded_in
from buildloop.report.last_error import error_context
from buildloop.report.masked import masked_value
from buildloop.report.recollection import as_told
from buildloop.rundir import RunDir
from tasks.remember import memory_degraded


def advised(run: RunDir, facts: RunFacts) -> RunFacts:
    """The facts with advice; also written down, as `advice.json` and `context-error-<stage>.md`."""
    finding = next(iter(red_findings(facts.iterations[-1].gate).values()), None) if facts.iterations else None
    # What an earlier stop of this run was told is about another failure.
    advice = _advice(run, facts, finding) if finding is not None else Advice()
    facts = replace(facts, advice=masked_value(advice, redactor(os.environ)))
    save_advice(run.path, facts.advice)
    facts = replace(facts, degraded=degraded_in(run))
    error = error_context(facts)
    text = format_context_error_report(
        error.error,
        error.stage,
        error.iteration,
        error.goal,
        error.issue,
        diagnosis=error.diagnosis,
        similar=error.similar,
        actions=error.actions,
        note=error.note,
        plain=True,
    )
    write_atomic(run.path / f"context-error-{error.stage}.md", text)
    run.events.emit(
        "error.context_generated",
        stage=error.stage,
        iteration=error.iteration,
        category=error.error_class,
        issue=error.issue,
    )
    return facts


def _advice(run: RunDir, facts: RunFacts, finding: Finding) -> Advice:
    """With the same history and the same ranking as a prompt; without memory the defaults."""
    assert facts.workspace is not None
    scope = Scope(facts.workspace.repo_id, facts.request.shared_memory)
    past: tuple[Remembered, ...] = ()
    actions = generate_suggested_actions(finding_class(finding), stage_of(finding), past)
    end = time.monotonic() + LOOKUP_SECONDS
    try:
        place = memory_location(os.environ)
        if place.kind is not Kind.OFF:
            with (
                closing(open_store(place, LOOKUP_SECONDS)) as store,
                store.within(end - time.monotonic()),
            ):
                past = history_of(store, finding, scope, run.run_id)
                actions = proposed_actions(store, finding, scope, past)
    except BuildloopError as problem:
        memory_degraded(run, str(problem))
    return Advice(similar=tuple(map(as_told, past)), actions=tuple(action.text for action in actions))
