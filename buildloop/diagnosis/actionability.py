"""What can be added to error lines that tell too little to whoever must fix them (seed 002)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from buildloop.diagnosis.categories import categorize_error
from buildloop.diagnosis.excerpts import Located, changed_hunk, locate, source_excerpt
from buildloop.diagnosis.rubric import score_error_line
from buildloop.files import write_json

ENOUGH = 70  # an agent can act on a line that scores this much
BLIND = 45  # below this it does not even know where to look
MAX_NAMED_FILES = 5
SUMMARY_FILE = "error-summary.json"

Emit = Callable[..., object]
SourceReader = Callable[[str], str | None]


def score_error_summary(path: Path) -> int:
    """The integer mean over the lines; 100 when there is nothing to judge: no file, no lines, no JSON."""
    lines = _raw_lines(_load(path))
    return _mean([score_error_line(line) for line in lines])


def enhance_error_line(line: str, changed_files: Sequence[str] = (), excerpt: str | None = None) -> str:
    """The line itself when it says enough; else with its category, and if it says little, where to look."""
    score = score_error_line(line)
    if score >= ENOUGH:
        return line
    enhanced = f"[{categorize_error(line)}] {line}"
    if score < BLIND and changed_files:
        enhanced += f" (recently changed: {', '.join(changed_files[:MAX_NAMED_FILES])})"
    return f"{enhanced}\n{excerpt}" if excerpt else enhanced


def enhance_error_summary(
    run_dir: Path,
    *,
    changed_files: Sequence[str] = (),
    diff: str = "",
    source_reader: SourceReader | None = None,
    emit: Emit | None = None,
) -> bool:
    """Scores `error-summary.json` and enriches it in place; True when lines were enriched.

    The loop must not fail for want of a better message: whatever goes wrong is told as `loop.degraded`.
    """
    try:
        return _enhance(run_dir / SUMMARY_FILE, changed_files, diff, source_reader, emit)
    except Exception as error:
        if emit is not None:
            emit("loop.degraded", what="error enrichment", why=f"{type(error).__name__}: {error}")
        return False


def _enhance(
    path: Path, changed_files: Sequence[str], diff: str, source_reader: SourceReader | None, emit: Emit | None
) -> bool:
    summary = _load(path)
    lines = _raw_lines(summary)
    if not lines:
        return False
    scores = [score_error_line(line) for line in lines]
    score = _mean(scores)
    enhanced = score < ENOUGH
    summary["actionability_score"] = score
    summary["score_breakdown"] = [
        {"line": line, "score": points, "category": str(categorize_error(line))}
        for line, points in zip(lines, scores, strict=True)
    ]
    if enhanced:
        excerpts = _excerpts(lines, scores, diff, source_reader)
        summary["original_error_lines"] = lines
        summary["error_lines"] = [
            enhance_error_line(line, changed_files, excerpt)
            for line, excerpt in zip(lines, excerpts, strict=True)
        ]
    write_json(path, summary, view=True)
    if emit is not None:
        emit(
            "error.actionability_scored",
            score=score,
            error_count=len(lines),
            enhanced=enhanced,
            iteration=summary.get("iteration", 0),
        )
    return enhanced


def _excerpts(
    lines: Sequence[str], scores: Sequence[int], diff: str, source_reader: SourceReader | None
) -> list[str | None]:
    """For the first blind line: the source at the first place named, and the change that touches it."""
    place: Located | None = next((found for line in lines if (found := locate(line))), None)
    if place is None:
        return [None] * len(lines)
    source = source_reader(place.file) if source_reader else None
    parts = [changed_hunk(diff, place), source_excerpt(source, place) if source else None]
    shown = "\n".join(part for part in parts if part) or None
    blind = next((i for i, points in enumerate(scores) if points < BLIND), None)
    return [shown if i == blind else None for i in range(len(lines))]


def _load(path: Path) -> dict[str, Any]:
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return summary if isinstance(summary, dict) else {}


def _raw_lines(summary: dict[str, Any]) -> list[str]:
    """The lines as the gate wrote them, also when the summary was enriched before."""
    lines = summary.get("original_error_lines") or summary.get("error_lines")
    return (
        [line for line in lines if isinstance(line, str) and line.strip()] if isinstance(lines, list) else []
    )


def _mean(scores: Sequence[int]) -> int:
    return sum(scores) // len(scores) if scores else 100
