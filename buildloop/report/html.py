"""The run as one page: no network, no script, everything inside. For a person, over coffee, on any screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from buildloop.diagnosis.explain import VERDICTS
from buildloop.models import Iteration
from buildloop.report.chart import Chart
from buildloop.report.facts import RunFacts
from buildloop.report.last_error import error_context
from buildloop.report.markdown import changed_words, integrity_title, tests_words, tokens_words
from buildloop.report.safe import visible
from buildloop.report.story import Story, spent, story_of, when
from buildloop.report.timeline import chart_of, kind_name, kind_of, kinds_of
from buildloop.report.words import EFFECTS, MODES, count, duration, money
from buildloop.text import first_line, one_line

WIDE, NARROW = 900, 340
GROUP = 25
SMALLEST_GROUP = 5
FAILING_SHOWN = 12
TITLE_CHARS = 140


@dataclass(frozen=True, slots=True)
class StepGroup:
    """Iterations that are folded together; a short run is one group that stays open."""

    title: str
    steps: tuple[Iteration, ...]
    folded: bool


def html_report(facts: RunFacts) -> str:
    story = story_of(facts)
    page = _environment().get_template("report.html.j2")
    charts = (chart_of(story, "wide", WIDE), chart_of(story, "narrow", NARROW)) if story.steps else ()
    return _render(page, story, charts)


def _render(page: Template, story: Story, charts: Sequence[Chart]) -> str:
    facts, goal = story.facts, story.facts.request.goal.strip()
    return page.render(
        story=story,
        facts=facts,
        request=facts.request,
        charts=charts,
        groups=groups_of(story.steps),
        title=one_line(first_line(goal), TITLE_CHARS) or f"Issue #{facts.request.issue}",
        whole_goal=goal != one_line(first_line(goal), TITLE_CHARS),
        failing_shown=FAILING_SHOWN,
        error=error_context(facts),
        legend=_legend(story),
    )


def groups_of(steps: Sequence[Iteration]) -> tuple[StepGroup, ...]:
    """A long run is told forward too, but only its end is unfolded."""
    if len(steps) <= GROUP + 1:
        return (StepGroup("", tuple(steps), folded=False),)
    first = len(steps) % GROUP
    first += GROUP if first < SMALLEST_GROUP else 0
    bounds = [0, *range(first, len(steps) + 1, GROUP)]
    chunks = [tuple(steps[start:end]) for start, end in pairwise(bounds)]
    return tuple(
        StepGroup(_group_title(chunk), chunk, folded=position < len(chunks) - 1)
        for position, chunk in enumerate(chunks)
    )


def _group_title(chunk: Sequence[Iteration]) -> str:
    first, last = chunk[0], chunk[-1]
    begin = "Baseline" if first.number == 0 else f"Iterations {first.number}"
    return f"{begin} to {last.number}: {first.gate.in_words} → {last.gate.in_words}"


def _legend(story: Story) -> list[tuple[str, str]]:
    kinds = {kind for one in story.steps for kind in kinds_of(one)}
    order = [*MODES, "unknown", "passed"]
    return [(kind, kind_name(kind)) for kind in order if kind in kinds]


def _shown(value: object) -> object:
    """Every value on its way into the page: without what no reader can see."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("buildloop.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    words: dict[str, Any] = {
        "duration": duration,
        "money": money,
        "tokens": tokens_words,
        "when": when,
        "spent": spent,
        "changed": changed_words,
        "tests": tests_words,
        "integrity_title": integrity_title,
        "effect": lambda effect: EFFECTS[effect],
        "kind": kind_of,
        "kind_name": kind_name,
        "count": count,
        "meaning": lambda mode: VERDICTS[mode],
        "file_name": lambda path: Path(path).name,
        "number": lambda value: f"{value:.1f}".removesuffix(".0"),
    }
    made.filters |= words
    return made
