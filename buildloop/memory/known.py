"""What memory knows of one failure and what it proposes: the same for a prompt and for a person."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.diagnosis.model import Finding
from buildloop.memory.actions import default_keys, generate_suggested_actions
from buildloop.memory.facts import class_subject, known_repo
from buildloop.memory.model import Action, Record, SimilarFailure
from buildloop.memory.outcomes import finding_class, stage_of
from buildloop.memory.recall import Scope, record_of, similar_failures
from buildloop.memory.store import Store

MOST_SIMILAR = 3


def history_of(store: Store, finding: Finding, scope: Scope, run: str) -> tuple[SimilarFailure, ...]:
    """Failures like it. One that only this run has met, and that nothing has cured yet, is no history. (The first run
    that met it tells: the failure at hand has been remembered already.)"""
    found = similar_failures(store, finding, MOST_SIMILAR, scope)
    return tuple(one for one in found if one.fixes or one.first_run != run)


def proposed_actions(
    store: Store, finding: Finding, scope: Scope, similar: Sequence[SimilarFailure]
) -> tuple[Action, ...]:
    """Ranked by the records of the repository."""
    error_class, stage = finding_class(finding), stage_of(finding)
    repo = known_repo(store, scope.repo)
    if repo is None:
        return generate_suggested_actions(error_class, stage, similar)
    records: dict[str, Record] = {
        key: record_of(store, repo, key) for key in default_keys(error_class, stage)
    }
    overall = record_of(store, repo, class_subject(error_class))
    return generate_suggested_actions(error_class, stage, similar, records=records, overall=overall)
