"""A run as GitHub shows it: the body of its pull request, or the comment that says why there is none."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.report.facts import RunFacts
from buildloop.report.github_comment import MOST_BYTES, format_github_error_comment
from buildloop.report.last_error import error_context
from buildloop.report.markdown import (
    diagnosis_lines,
    failing_lines,
    flaky_lines,
    integrity_lines,
    integrity_title,
    iteration_table,
    kept_out_lines,
    proof_text,
    sessions_table,
)
from buildloop.report.safe import block, code, folded, sentence, uncalled, visible
from buildloop.report.story import Story, story_of
from buildloop.report.words import count, duration, money
from buildloop.text import first_line, one_line

TITLE_CHARS = 120


def github_report(facts: RunFacts) -> str:
    """The one of both that fits how the run ended."""
    done = facts.result is not None and facts.result.reason.is_success
    return pull_request_body(facts) if done else failure_comment(facts)


def pull_request_title(facts: RunFacts) -> str:
    """The first line of the goal: GitHub reads no markup in a title, but makes a commit message of it."""
    first = first_line(visible(story_of(facts).facts.request.goal))
    return uncalled(one_line(first.lstrip("# "), TITLE_CHARS))


def pull_request_body(facts: RunFacts) -> str:
    """Says first what is proven; `Closes` ties it to its issue, and only to that."""
    story, issue = story_of(facts), facts.request.issue
    head = [
        f"Closes #{issue}." if issue is not None else "",
        f"{sentence(story.outcome.why)} {_spent(story)}",
        f"### {'What is proven' if story.proof.holds else 'What is known'}\n\n{proof_text(story)}",
    ]
    return _within_limit(head, _folds(story))


def failure_comment(facts: RunFacts) -> str:
    story = story_of(facts)
    error = error_context(story.facts)
    last = story.steps[-1] if story.steps else None
    intro = (
        f"**buildloop: {story.outcome.word}.** {sentence(story.outcome.why)} {_spent(story)}\n\n"
        f"Next: {sentence(story.outcome.then)}."
    )
    return format_github_error_comment(
        error.error,
        error.stage,
        error.iteration,
        error.goal,
        error.issue,
        diagnosis=error.diagnosis,
        similar=error.similar,
        actions=error.actions,
        note=error.note,
        intro=intro,
        log=last.gate.tail if last else "",
        more=_folds(story)[1:],
    )


def _spent(story: Story) -> str:
    parts = [count(story.iterations, "iteration"), duration(story.seconds), money(story.usage.cost_usd)]
    return f"({', '.join(part for part in parts if part)}, run {code(str(story.facts.request.run_id))})"


def _folds(story: Story) -> list[tuple[str, str]]:
    """Title and Markdown of what is behind the summary, the most wanted first."""
    diagnoses = diagnosis_lines(story, [one for one in story.steps[-40:] if one.remedies])
    wanted = [
        ("Goal", block(story.facts.request.goal[:8_000])),
        ("Iterations", iteration_table(story.steps)),
        ("Diagnoses and what was done", "\n".join(diagnoses)),
        ("Question for a person", block(story.question) if story.question else ""),
        ("Still failing", "\n".join(failing_lines(story, 50))),
        ("Flaky tests met", "\n".join(flaky_lines(story))),
        (integrity_title(story), "\n".join(integrity_lines(story))),
        ("Kept out of the commits", "\n".join(kept_out_lines(story))),
        ("Cost", sessions_table(story.sessions) if story.calls else ""),
    ]
    return [(title, body) for title, body in wanted if body]


def _within_limit(head: Sequence[str], folds: Sequence[tuple[str, str]]) -> str:
    text = "\n\n".join(part for part in head if part)
    for title, body in folds:
        longer = f"{text}\n\n{folded(title, body)}"
        text = longer if len(longer.encode()) <= MOST_BYTES else text
    return text + "\n"
