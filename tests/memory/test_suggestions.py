"""Suggestions: concrete, recorded once, credited only where they were shown and their failure went green."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.diagnosis.model import ErrorClass, FailureMode
from buildloop.memory import generate_suggested_actions
from buildloop.memory.advice import CLASS_ADVICE, STAGE_ADVICE
from buildloop.memory.credit import LEAST_TRIALS, NOTICEABLE, chance_to_help, fades
from buildloop.memory.facts import settle_failure
from buildloop.memory.model import Change, Fix, Moment, Record, SimilarFailure
from buildloop.memory.recall import Scope, record_of, similar_failures
from buildloop.memory.suggestions import (
    export_suggestions,
    find_suggestions,
    mark_suggestion_resolved,
    record_suggestion,
    resolve_outstanding_suggestions,
    suggestions_of,
)
from tests.support.memories import NOW, REPO, Events, finding, fix, remember, suggestion

RECORDS = st.builds(
    lambda worked, failed: Record(worked=worked, tried=worked + failed), *[st.integers(0, 50)] * 2
)

FIRST = Moment(run="run-1", iteration=1)


def known_fix(name: str, worked: int = 1, tried: int = 1, *, faded: bool = False) -> Fix:
    return Fix(
        id=f"fix-{name}",
        change=Change(summary=f"+{name}", approach=f"did {name}", files=("a.py",)),
        run="r",
        confirmed_at="2026-01-01T00:00:00Z",
        record=Record(worked=worked, tried=tried),
        faded=faded,
    )


def seen(*fixes: Fix, exact: bool = True, relevance: float = 1.0) -> SimilarFailure:
    return SimilarFailure(
        fingerprint="2:0",
        error_class=ErrorClass.TYPE_ERROR,
        mode=FailureMode.CODE_ERROR,
        test="",
        message="m",
        repo=REPO,
        exact=exact,
        relevance=relevance,
        seen=1,
        first_seen="2026-01-01T00:00:00Z",
        last_seen="2026-01-01T00:00:00Z",
        first_run="r",
        last_run="r",
        fixes=fixes,
    )


def test_the_tables_are_complete_and_every_class_has_enough_to_choose_from():
    assert set(CLASS_ADVICE) == set(ErrorClass)
    assert all(len(set(texts)) == len(texts) >= 3 for texts in CLASS_ADVICE.values())
    every = [text for texts in CLASS_ADVICE.values() for text in texts]
    assert len(set(every)) == len(every)
    assert {"build", "test", "install", "lint"} <= set(STAGE_ADVICE)


@pytest.mark.parametrize("stage", ["build", "test", "no such stage", ""])
@pytest.mark.parametrize("error_class", [*ErrorClass, "no such class"])
@pytest.mark.parametrize("fixes", [0, 1, 2, 5])
def test_two_to_four_actions_always(error_class, stage, fixes):
    similar = [seen(known_fix(str(number))) for number in range(fixes)]
    actions = generate_suggested_actions(error_class, stage, similar)
    assert 2 <= len(actions) <= 4
    assert len({action.key for action in actions}) == len(actions)
    assert all(action.text.strip() and "\n" not in action.text for action in actions)


def test_a_confirmed_fix_comes_first_with_its_record_then_class_then_stage():
    first, *others = generate_suggested_actions(ErrorClass.TYPE_ERROR, "test", [seen(known_fix("a", 4, 5))])
    assert "worked 4 of 5" in first.text
    assert "did a" in first.text
    assert [action.key.split("/")[0] for action in others] == ["TYPE_ERROR", "TYPE_ERROR", "stage"]


def test_the_more_promising_fix_is_proposed_first_and_a_faded_one_not_at_all():
    similar = [seen(known_fix("poor", 1, 4), known_fix("good", 3, 4), known_fix("gone", 0, 9, faded=True))]
    keys = [action.key for action in generate_suggested_actions(ErrorClass.UNKNOWN, "", similar)]
    assert keys[:2] == ["fix-good", "fix-poor"]
    assert "fix-gone" not in keys


def test_the_same_failure_counts_for_more_than_a_similar_one():
    similar = [seen(known_fix("far", 9, 9), exact=False, relevance=0.9), seen(known_fix("near", 1, 2))]
    assert generate_suggested_actions(ErrorClass.UNKNOWN, "", similar)[0].key == "fix-near"


def test_pitfall_31_a_new_fix_is_proposed_at_once(store):
    """The old loop proposed only what had been proposed before."""
    remember(store, finding())
    fix(store, finding())
    similar = similar_failures(store, finding(), 3, Scope(REPO))
    assert generate_suggested_actions(ErrorClass.UNKNOWN, "test", similar)[0].fix is not None


def test_defaults_that_do_not_help_make_room_for_others():
    usual = [a.key for a in generate_suggested_actions(ErrorClass.TIMEOUT, "test", [])]
    records = {usual[0]: Record(worked=0, tried=8)}
    after = generate_suggested_actions(
        ErrorClass.TIMEOUT, "test", [], records=records, overall=Record(worked=4, tried=16)
    )
    assert usual[0] not in [action.key for action in after]


@given(RECORDS)
def test_the_estimate_is_a_beta_prior(record):
    """Nothing tried is even chance; one success is not certainty; every failure lowers it."""
    assert 0 < record.estimate < 1
    worse = Record(worked=record.worked, tried=record.tried + 1)
    better = Record(worked=record.worked + 1, tried=record.tried + 1)
    assert worse.estimate < record.estimate < better.estimate
    assert Record().estimate == 0.5


def record(worked, tried):
    return Record(worked=worked, tried=tried)


def faded_among(own, others):
    return fades(own, record(own.worked + others.worked, own.tried + others.tried))


@given(RECORDS, RECORDS)
def test_an_unbroken_record_never_fades_and_what_is_new_gets_its_chance(own, others):
    overall = record(own.worked + others.worked, own.tried + others.tried)
    assert overall.without(own) == others
    if own.tried < LEAST_TRIALS or own.worked == own.tried:
        assert not fades(own, overall)
    elif fades(own, overall):
        worse = record(max(0, own.worked - 1), own.tried)
        assert faded_among(worse, others)
        # Doing without is better, or the difference is too small to be noticed.
        assert own.estimate < (others.estimate if others.tried >= LEAST_TRIALS else 0.5) + NOTICEABLE


@pytest.mark.parametrize(
    ("own", "others", "gone"),
    [
        (record(4, 4), record(18, 20), False),
        (record(4, 5), record(18, 20), False),
        (record(3, 4), record(18, 20), False),
        (record(6, 10), record(20, 100), False),
        (record(0, 3), record(18, 20), True),
        (record(2, 10), record(15, 20), True),
        (record(300, 600), record(5000, 10000), True),
        (record(0, 5), record(0, 0), True),
        (record(2, 5), record(0, 0), False),
    ],
)
def test_it_takes_evidence_to_fade(own, others, gone):
    """Many trials with no noticeable gain are evidence; a few less lucky ones are not."""
    assert faded_among(own, others) == gone


def test_the_chance_to_help_is_that_of_two_beta_distributions():
    """Against drawing from them."""
    chance, draws = random.Random(1), 20_000
    for own, others in (
        (record(4, 5), record(18, 20)),
        (record(1, 4), record(1, 6)),
        (record(9, 9), record(0, 3)),
    ):
        won = sum(
            chance.betavariate(own.worked + 1, own.tried - own.worked + 1)
            > chance.betavariate(others.worked + 1, others.tried - others.worked + 1) + NOTICEABLE
            for _ in range(draws)
        )
        assert abs(chance_to_help(own, others) - won / draws) < 0.015


def test_suggestions_that_do_not_raise_the_fix_rate_fade(store):
    """Failures of the class go green without the fix more often than with it: it is not proposed any more."""
    remember(store, finding())
    shown = fix(store, finding())
    for number in range(6):
        remember(store, finding("KeyError: 'user'", f"other::{number}"))
        at = Moment(run="run-1", iteration=0)
        settle_failure(
            store, REPO, remember(store, finding("KeyError: 'user'", f"other::{number}")), at, fixed=True
        )
    for number in range(5):
        record_suggestion(store, suggestion(number, keys=(shown,)), NOW, Events().emit)
        mark_suggestion_resolved(store, f"s{number}", "false", emit=Events().emit)
    (found, *_) = similar_failures(store, finding(), 3, Scope(REPO))
    assert [(one.record.in_words, one.faded) for one in found.fixes] == [("worked 1 of 6", True)]
    assert all(action.fix is None for action in generate_suggested_actions(ErrorClass.UNKNOWN, "", [found]))


def test_record_suggestion_appends_valid_jsonl_and_emits_suggestion_recorded(store, tmp_path):
    events = Events()
    for number in (1, 2):
        assert record_suggestion(
            store, suggestion(number, actions=('say "hi"\n\u2028', "x")), NOW, events.emit
        )
        export_suggestions(suggestions_of(store, "run-1"), tmp_path / "suggestions.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "suggestions.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["s1", "s2"]
    assert {"id", "category", "stage", "actions", "resolved", "timestamp"} <= set(lines[0])
    assert (lines[0]["category"], lines[0]["resolved"]) == ("TYPE_ERROR", None)
    assert lines[0]["actions"] == ['say "hi"\n\u2028', "x"]
    assert events.types() == ["suggestion.recorded"] * 2
    assert {"id", "category", "stage", "iteration", "issue"} <= set(events[0])


def test_the_same_suggestion_is_recorded_and_told_once(store):
    events = Events()
    assert record_suggestion(store, suggestion(), NOW, events.emit)
    assert not record_suggestion(store, suggestion(), NOW, events.emit)
    assert len(events) == len(suggestions_of(store, "run-1")) == 1


def test_mark_suggestion_resolved_updates_the_right_entry_once_and_emits_suggestion_resolved(store):
    events = Events()
    for number in (1, 2, 3):
        record_suggestion(store, suggestion(number), NOW, Events().emit)
    assert mark_suggestion_resolved(store, "s2", emit=events.emit)
    assert not mark_suggestion_resolved(store, "s2", "false", emit=events.emit)
    assert not mark_suggestion_resolved(store, "unknown", emit=events.emit)
    assert [one.resolved for one in suggestions_of(store, "run-1")] == [None, "true", None]
    assert [(event["type"], event["id"], event["resolved"]) for event in events] == [
        ("suggestion.resolved", "s2", "true")
    ]


def test_a_resolution_is_true_or_false(store):
    with pytest.raises(ValueError, match="maybe"):
        mark_suggestion_resolved(store, "s1", "maybe", emit=Events().emit)


def together(number, **changes):
    """Several suggestions of one iteration."""
    return suggestion(number, iteration=1, **changes)


def test_a_suggestion_of_the_next_iteration_is_not_settled_by_the_one_before(store):
    """Killed late, an iteration is told again: its failure is still red, the suggestion was not shown yet."""
    record_suggestion(store, suggestion(2), NOW, Events().emit)
    red = {suggestion(2).fingerprint: False}
    assert resolve_outstanding_suggestions(store, FIRST, red, emit=Events().emit) == []
    second = Moment(run="run-1", iteration=2)
    assert resolve_outstanding_suggestions(store, second, red, emit=Events().emit) == ["s2"]


def test_resolve_outstanding_suggestions_leaves_resolved_ones_alone(store):
    for number in (1, 2, 3, 4):
        record_suggestion(store, together(number), NOW, Events().emit)
    mark_suggestion_resolved(store, "s1", "false", emit=Events().emit)
    green = {suggestion(number).fingerprint: True for number in (1, 2)}
    red = {suggestion(3).fingerprint: False}
    events = Events()
    assert resolve_outstanding_suggestions(store, FIRST, green | red, emit=events.emit) == ["s2", "s3"]
    assert [one.resolved for one in suggestions_of(store, "run-1")] == ["false", "true", "false", None]
    assert len(events) == 2


def test_pitfall_34_credit_goes_only_to_what_was_shown_for_the_failure_that_went_green(store):
    """One success in two is one of two, and the success of one failure is not another's."""
    for number, key in enumerate(("fix-a", "fix-a", "fix-b"), 1):
        record_suggestion(store, together(number, keys=(key,)), NOW, Events().emit)
    outcomes = {suggestion(1).fingerprint: True, suggestion(2).fingerprint: False}
    resolve_outstanding_suggestions(store, FIRST, outcomes, emit=Events().emit)
    assert record_of(store, 0, "fix-a") == Record(worked=1, tried=2)
    assert record_of(store, 0, "fix-b") == Record()


def test_pitfall_34_a_green_credits_what_was_shown_in_its_own_iteration_not_what_was_open_from_before(store):
    failure = suggestion(1).fingerprint
    for number in (1, 2, 3):
        record_suggestion(
            store, suggestion(number, fingerprint=failure, keys=(f"fix-{number}",)), NOW, Events().emit
        )
    resolve_outstanding_suggestions(
        store, Moment(run="run-1", iteration=3), {failure: True}, emit=Events().emit
    )
    assert [one.resolved for one in suggestions_of(store, "run-1")] == ["false", "false", "true"]
    assert [record_of(store, 0, f"fix-{number}").worked for number in (1, 2, 3)] == [0, 0, 1]


def test_another_runs_suggestions_are_not_settled(store):
    record_suggestion(store, suggestion(1, run="run-2"), NOW, Events().emit)
    green = {suggestion(1).fingerprint: True}
    assert resolve_outstanding_suggestions(store, FIRST, green, emit=Events().emit) == []


def test_a_suggestion_is_found_by_the_beginning_of_its_id(store):
    for name in ("run-1-s1-i1-aaaa", "run-1-s1-i1-aabb", "run_1-x"):
        record_suggestion(store, suggestion(1, id=name), NOW, Events().emit)
    assert [one.id for one in find_suggestions(store, "run-1-s1-i1-aaa")] == ["run-1-s1-i1-aaaa"]
    assert len(find_suggestions(store, "run-1")) == 2
    assert find_suggestions(store, "%") == []
