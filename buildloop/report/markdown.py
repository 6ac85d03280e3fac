"""The run as one Markdown page: what was asked, what is proven, what was tried. Also its Prefect artifact.

Plain Markdown without HTML, so that it reads the same in every viewer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from buildloop.models import Iteration, Remedy, Usage
from buildloop.progress import Effect
from buildloop.report.facts import RunFacts
from buildloop.report.safe import block, cell, code, sentence, visible
from buildloop.report.story import SessionCost, Story, story_of, when
from buildloop.report.words import EFFECTS, MODES, compact, count, duration, money, says_tokens

EVIDENCE_SHOWN = 3
FAILING_SHOWN = 20
ROWS_SHOWN = 40


def run_report(facts: RunFacts) -> str:
    return markdown_of(story_of(facts))


def markdown_of(story: Story) -> str:
    request = story.facts.request
    parts = [
        f"# {_heading(story)}",
        f"**{story.outcome.word}** — {sentence(story.outcome.why)}",
        f"Next: {sentence(story.outcome.then)}.",
        f"## Goal\n\n{block(request.goal)}",
        f"## What is proven\n\n{proof_text(story)}",
        *([f"## Your next command\n\n{commands_text(story)}"] if story.commands else []),
        f"## Iterations\n\n{iteration_table(story.steps)}",
        *_optional(story),
    ]
    return "\n\n".join(parts) + "\n"


def iteration_rows(iterations: Sequence[Iteration]) -> list[dict[str, str]]:
    """One row an iteration, as the Prefect table artifact and the Markdown table show it."""
    return [
        {
            "iteration": "baseline" if one.number == 0 else str(one.number),
            "session": str(one.session),
            "agent": one.agent.reply.outcome if one.agent else "",
            "changed": changed_words(one),
            "gate": one.gate.in_words,
            "tests": tests_words(one),
            "diagnosis": ", ".join(dict.fromkeys(r.diagnosis.mode for r in one.remedies)),
            "action": ", ".join(dict.fromkeys(r.recovery.strategy.action for r in one.remedies)),
            "context": f"{one.context_pct} %" if one.agent else "",
            "cost": money(one.agent.reply.usage.cost_usd) if one.agent else "",
        }
        for one in iterations
    ]


def iteration_table(iterations: Sequence[Iteration]) -> str:
    """The first and the last ones of a long run; the page and the table artifact have all."""
    if not iterations:
        return "(none yet)"
    rows = iteration_rows(iterations)
    head = [name for name in rows[0] if any(row[name] for row in rows)]
    shown = [[row[name] for name in head] for row in rows]
    if len(shown) > ROWS_SHOWN:
        left_out = len(shown) - ROWS_SHOWN
        middle = ["…", *[""] * (len(head) - 2), f"{left_out} more"]
        shown = [*shown[: ROWS_SHOWN // 2], middle, *shown[-ROWS_SHOWN // 2 :]]
    return _table(head, shown)


def proof_text(story: Story) -> str:
    proof = story.proof
    parts = [sentence(proof.claim)]
    if proof.report is not None:
        rows = [
            [cell(ran.command), _exit(ran.exit_code), ran.verdict.replace("_", " "), duration(ran.seconds)]
            for ran in proof.report.commands
        ]
        parts.append(_table(["command", "exit", "verdict", "time"], rows))
        if proof.report.explanation:
            parts.append(sentence(proof.report.explanation))
        parts.append(
            f"Tree {code(proof.tree)}, commit {code(proof.commit)}, branch {code(story.facts.branch)}."
        )
    return "\n\n".join(parts)


def commands_text(story: Story) -> str:
    return "\n\n".join(f"{one.what} ({one.note}):\n\n{block(one.line)}" for one in story.commands)


def diagnosis_lines(story: Story, steps: Sequence[Iteration]) -> list[str]:
    """Each diagnosis with its evidence, what was done, and what came of it."""
    return [
        f"- **{when(one.number)}**: {_remedy(remedy, effect)}"
        for one in steps
        for remedy, effect in zip(one.remedies, story.effects[one.number], strict=True)
    ]


def sessions_table(sessions: Sequence[SessionCost]) -> str:
    rows = [
        [
            str(one.number),
            str(one.calls),
            tokens_words(one.usage) or "not reported",
            money(one.usage.cost_usd) or "not reported",
            duration(one.seconds),
            f"{one.fill} %",
            one.ended,
        ]
        for one in sessions
    ]
    return _table(["session", "agent calls", "tokens", "cost", "time", "context", "ended"], rows)


def tokens_words(usage: Usage) -> str:
    return compact(usage.all_tokens) if says_tokens(usage) else ""


def changed_words(one: Iteration) -> str:
    if one.agent is None:
        return ""
    point = one.agent.checkpoint
    if not point.changed:
        return "nothing"
    return f"{count(len(point.files), 'file')} +{point.insertions} −{point.deletions}"


def tests_words(one: Iteration) -> str:
    counts = one.gate.reading.counts
    return f"{counts.passed}/{counts.run}" if counts and counts.run else ""


def flaky_lines(story: Story) -> Iterator[str]:
    for one in story.flaky[:FAILING_SHOWN]:
        where = ", ".join(when(number) for number in one.iterations[:5])
        excused = "; its failure was excused (quarantined)" if one.excused else ""
        yield f"- {code(one.test)} passed and failed on the same tree ({where}){excused}"
    if len(story.flaky) > FAILING_SHOWN:
        yield f"- and {len(story.flaky) - FAILING_SHOWN:,} more"


def integrity_title(story: Story) -> str:
    """A red gate that was tampered with says so too, early; only a green one was not earned."""
    blocked = any(one.blocks for one in story.integrity)
    return "Green that was not earned" if blocked else "Changes to the tests that were noted"


def integrity_lines(story: Story) -> Iterator[str]:
    for one in story.integrity:
        hint = "" if one.blocks else " (noted; it did not turn the gate red)"
        yield f"- **{when(one.number)}**: {sentence(one.text)}{hint}"
        if one.diff:
            yield f"\n{block(one.diff)}\n"


def kept_out_lines(story: Story) -> Iterator[str]:
    for number, text in story.kept_out:
        yield f"- **{when(number)}**: {sentence(text)}"


def failing_lines(story: Story, most: int) -> Iterator[str]:
    if story.proof.holds:
        return
    for test in story.failing[:most]:
        since = f" ({words})" if (words := story.since(test)) else ""
        yield f"- {code(test)}{since}"
    if len(story.failing) > most:
        yield f"- and {len(story.failing) - most:,} more"


def _heading(story: Story) -> str:
    return f"buildloop {story.facts.request.run_id}"


def _optional(story: Story) -> Iterator[str]:
    """Only what there is something to say about."""
    if told := diagnosis_lines(story, [one for one in story.steps[-ROWS_SHOWN:] if one.remedies]):
        yield "## Diagnoses\n\n" + "\n".join(told)
    if story.question:
        yield f"## Question for a person\n\n{block(story.question)}"
    if story.failing and not story.proof.holds:
        yield "## Still failing\n\n" + "\n".join(failing_lines(story, FAILING_SHOWN))
    if story.flaky:
        yield "## Flaky tests met\n\n" + "\n".join(flaky_lines(story))
    if story.integrity:
        yield f"## {integrity_title(story)}\n\n" + "\n".join(integrity_lines(story))
    if story.kept_out:
        yield "## Kept out of the commits\n\n" + "\n".join(kept_out_lines(story))
    if story.calls:
        yield f"## Cost\n\n{sessions_table(story.sessions)}"
    if story.facts.degraded:
        yield "## What did not work beside the loop\n\n" + "\n".join(
            f"- {sentence(text, 300)}" for text in story.facts.degraded
        )


def _remedy(remedy: Remedy, effect: Effect) -> str:
    found, done = remedy.diagnosis, remedy.recovery
    forced = ", forced" if found.forced else ""
    evidence = "".join(f"\n  - {code(line, 160)}" for line in found.evidence[:EVIDENCE_SHOWN])
    came = "" if effect is Effect.UNKNOWN else f" ({EFFECTS[effect]})"
    action = f"{done.strategy.action}: {sentence(done.outcome, 200)}{came}"
    return f"{MODES[found.mode].name} ({found.confidence:.0%}{forced}) → {action}{evidence}"


def _exit(exit_code: int | None) -> str:
    return "none" if exit_code is None else str(exit_code)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(visible(text).replace("\n", " ") for text in row) + " |" for row in rows]
    return "\n".join(lines)
