"""The run as one Markdown page: what was asked, what is proven, what was tried. Also its Prefect artifact."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.models import Iteration, Remedy, Usage
from buildloop.prompt.sections import fenced
from buildloop.request import BuildRequest
from buildloop.result import BuildResult
from buildloop.text import one_line

EVIDENCE_SHOWN = 3


def run_report(
    request: BuildRequest, iterations: Sequence[Iteration], branch: str, result: BuildResult | None
) -> str:
    parts = [
        f"# buildloop {request.run_id}",
        _outcome(iterations, result),
        f"## Goal\n\n{quoted(request.goal)}",
    ]
    if result is not None and iterations:
        parts.append(_proof(iterations, branch, result))
    parts.append(f"## Iterations\n\n{iteration_table(iterations)}")
    if story := "\n".join(line for one in iterations for line in _diagnosis_lines(one)):
        parts.append(f"## Diagnoses\n\n{story}")
    if result is not None and result.question:
        parts.append(f"## Question for a person\n\n{quoted(result.question)}")
    if result is not None and result.failing:
        lines = [f"- `{_code(test)}` ({_since(result, test)})" for test in result.failing[:20]]
        parts.append("## Still failing\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def iteration_rows(iterations: Sequence[Iteration]) -> list[dict[str, str]]:
    """One row an iteration, as the Prefect table artifact and the Markdown table show it."""
    return [
        {
            "iteration": "baseline" if one.number == 0 else str(one.number),
            "session": str(one.session),
            "agent": one.agent.reply.outcome if one.agent else "",
            "changed": _changed(one),
            "gate": one.gate.in_words,
            "tests": _tests(one),
            "diagnosis": ", ".join(dict.fromkeys(r.diagnosis.mode for r in one.remedies)),
            "action": ", ".join(dict.fromkeys(r.recovery.strategy.action for r in one.remedies)),
            "context": f"{one.context_pct} %" if one.agent else "",
            "cost": cost_text(one.agent.reply.usage) if one.agent else "",
        }
        for one in iterations
    ]


def iteration_table(iterations: Sequence[Iteration]) -> str:
    rows = iteration_rows(iterations)
    if not rows:
        return "(none yet)"
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_cell(row[name]) for name in head) + " |" for row in rows]
    return "\n".join(lines)


def cost_text(usage: Usage) -> str:
    return "" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"


def quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def _outcome(iterations: Sequence[Iteration], result: BuildResult | None) -> str:
    if result is not None:
        best = f"\n\n{text}" if (text := handed_back_text(result)) else ""
        words = result.reason.replace("_", " ")
        return f"**{words}** — {result.explanation}{best}\n\nNext: {result.next_step}"
    state = iterations[-1].gate.in_words if iterations else "starting"
    return f"**running** — iteration {iterations[-1].number if iterations else 0}, gate {state}"


def _proof(iterations: Sequence[Iteration], branch: str, result: BuildResult) -> str:
    gate = iterations[-1].gate
    ran = "\n".join(
        f"- `{_code(c.command)}` → exit {c.exit_code} ({c.verdict}, {c.seconds:.1f} s)" for c in gate.commands
    )
    return (
        f"## What is proven\n\n{ran}\n\nTree `{result.tree}`, commit `{result.commit}` on branch `{branch}`.\n\n"
        f"Review, merge or drop it:\n\n"
        + fenced(f"git diff HEAD...{branch}\ngit merge {branch}\ngit branch -D {branch}")
    )


def _since(result: BuildResult, test: str) -> str:
    number = result.since.get(test, 0)
    return f"since iteration {number}" if number else "from the start"


def handed_back_text(result: BuildResult) -> str:
    """What the branch holds when that is not the last iteration; empty otherwise."""
    if result.handed_back is None:
        return ""
    which = f"iteration {result.handed_back}" if result.handed_back else "the start: no iteration was better"
    return f"The branch holds the best tree, that of {which}."


def _diagnosis_lines(one: Iteration) -> list[str]:
    when = "baseline" if one.number == 0 else f"iteration {one.number}"
    return [f"- **{when}**: {_remedy(remedy)}" for remedy in one.remedies]


def _remedy(remedy: Remedy) -> str:
    found, done = remedy.diagnosis, remedy.recovery
    forced = ", forced" if found.forced else ""
    evidence = "".join(f"\n  - `{_code(one_line(line, 160))}`" for line in found.evidence[:EVIDENCE_SHOWN])
    action = f"{done.strategy.action}: {one_line(done.outcome)}"
    return f"{found.mode} ({found.confidence:.0%}{forced}) → {action}{evidence}"


def _changed(one: Iteration) -> str:
    if one.agent is None:
        return ""
    point = one.agent.checkpoint
    return f"{len(point.files)} files +{point.insertions} −{point.deletions}" if point.changed else "nothing"


def _tests(one: Iteration) -> str:
    counts = one.gate.reading.counts
    return f"{counts.passed}/{counts.run}" if counts and counts.run else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _code(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")
