"""What a report says about a run follows from the run, not from hope."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from buildloop.ledger import Call
from buildloop.models import AgentOutcome, Secret, Tampering, Usage
from buildloop.report.github_report import github_report
from buildloop.report.html import html_report
from buildloop.report.markdown import ROWS_SHOWN, iteration_table, run_report
from buildloop.report.story import story_of
from buildloop.report.words import duration, money
from buildloop.result import EXIT_CODES, StopReason
from tests.support import runs


def test_only_a_complete_run_proves_anything():
    assert {name for name, make in runs.ALL.items() if story_of(make()).proof.holds} == {
        "complete",
        "one_iteration",
        "no_cost",
    }


def test_what_a_person_accepted_is_a_success_that_is_not_proven():
    """Every view: a good end, something to merge and nothing to go on with, and no claim that the gate holds."""
    found = runs.accepted()
    story = story_of(found)
    assert (story.outcome.tone, story.proof.holds) == ("good", False)
    assert [one.what for one in story.commands] == ["Review", "Merge", "Undo"]
    assert "not proven" in story.commands[1].note
    assert "worktree" not in story.commands[2].line
    text = github_report(found)
    assert "### What is known" in text
    assert "a person accepted it so" in text
    assert "goal is not met" not in text


def test_only_what_can_be_merged_is_a_success():
    assert {reason for reason in StopReason if reason.is_success} == {"complete", "accepted"}
    assert {reason for reason in StopReason if EXIT_CODES[reason] == 0} == {"complete", "accepted"}


def test_the_proof_is_about_the_tree_that_is_handed_back():
    """Iteration 2 was better than the last one, so the branch holds it: its gate is what counts."""
    found = runs.cancelled()
    best = found.iterations[2]
    result = found.result.model_copy(update={"tree": best.gate.tree, "handed_back": 2})
    story = story_of(replace(found, result=result))
    assert story.proof.report == best.gate
    assert "best tree, that of iteration 2" in story.proof.claim
    assert story.failing == best.gate.reading.failing


def test_calls_that_failed_are_paid_and_counted():
    found = runs.one_iteration()
    call = Call(
        session=1,
        iteration=1,
        agent="a",
        ended=datetime(2026, 1, 1, tzinfo=UTC),
        outcome=AgentOutcome.CRASHED,
        seconds=1,
        usage=Usage(cost_usd=0.5),
    )
    story = story_of(replace(found, calls=(call, call)))
    assert (story.calls, story.usage.cost_usd, story.iterations) == (2, 1.0, 1)


def test_a_run_nobody_works_on_any_more_is_interrupted():
    story = story_of(runs.facts(list(runs.complete().iterations[:3]), None))
    assert story.outcome.word == "interrupted"
    assert "buildloop resume" in story.outcome.then


def test_the_table_of_a_long_run_keeps_both_ends():
    table = iteration_table(runs.long_run().iterations)
    assert table.count("\n") == ROWS_SHOWN + 2
    assert "| baseline |" in table
    assert "| 200 |" in table
    assert "161 more" in table


def test_the_markdown_names_what_is_wanted_of_it():
    text = run_report(runs.complete())
    for title in (
        "Goal",
        "What is proven",
        "Your next command",
        "Iterations",
        "Diagnoses",
        "Flaky tests met",
        "Cost",
    ):
        assert f"\n## {title}\n" in text
    assert "**complete**" in text
    assert "<" not in text.replace("<br>", "")


@pytest.mark.parametrize(
    ("dollars", "words"),
    [(None, ""), (0, "$0.00"), (0.04, "$0.04"), (0.0129, "$0.0129"), (0.129, "$0.13"), (1234.5, "$1,234.50")],
)
def test_money_is_told_in_cents_and_parts_of_them_where_they_matter(dollars, words):
    assert money(dollars) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (0.4, "under 1 s"), (59.6, "1 min"), (61, "1 min 1 s"), (7320, "2 h 2 min")],
)
def test_time_is_told_in_words(seconds, words):
    assert duration(seconds) == words


def test_what_was_done_to_the_tests_is_shown_with_its_diff_and_what_was_kept_out_of_the_commits():
    found = runs.one_iteration()
    last = found.iterations[-1]
    bent = Tampering(
        rule="skipped", file="tests/a.py", text="a test was skipped", diff="+@skip <b>\n", blocks=True
    )
    noted = Tampering(rule="values", file="tests/b.py", text="other values", blocks=False)
    point = last.agent.checkpoint.model_copy(
        update={"refused": (Secret(file=".env", line=3, kind="AWS Access Key"),), "restored": ("tests/c.py",)}
    )
    changed = last.model_copy(
        update={
            "agent": last.agent.model_copy(update={"checkpoint": point}),
            "reports": (last.gate.model_copy(update={"tampering": (bent, noted)}),),
        }
    )
    told = replace(found, iterations=(*found.iterations[:-1], changed))
    page, text = html_report(told), run_report(told)
    for said in (
        "a test was skipped",
        "other values",
        ".env, line 3 holds a secret (AWS Access Key)",
        "tests/c.py is protected",
    ):
        assert said in page
        assert said.replace("_", "\\_") in text or said in text
    assert "+@skip &lt;b&gt;" in page
    assert "+@skip <b>" in text
    assert "noted; it did not turn the gate red" in text


def test_objections_that_are_only_noted_accuse_nobody():
    found = runs.one_iteration()
    noted = Tampering(rule="values", file="tests/b.py", text="other values", blocks=False)
    last = found.iterations[-1]
    changed = last.model_copy(update={"reports": (last.gate.model_copy(update={"tampering": (noted,)}),)})
    assert "not earned" not in run_report(replace(found, iterations=(*found.iterations[:-1], changed)))
