"""How much an error line tells whoever must fix it, and what can be added when that is little (seed 002)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from buildloop.diagnosis.categories import categorize_error
from buildloop.diagnosis.excerpts import Located, changed_hunk, locate, source_excerpt
from buildloop.files import write_json
from buildloop.patterns import Regex

ENOUGH = 70  # an agent can act on a line that scores this much
BLIND = 45  # below this it does not even know where to look
MAX_NAMED_FILES = 5
SUMMARY_FILE = "error-summary.json"

Emit = Callable[..., object]
SourceReader = Callable[[str], str | None]

# The rubric's signs. They stand for facts, not for words: `:443` in a URL is no line number.
EXTENSION = (
    r"py|pyi|js|mjs|cjs|ts|tsx|jsx|go|rs|rb|java|kt|kts|scala|groovy|c|cc|cpp|cxx|h|hpp|hh|m|mm|swift|sh"
    r"|bash|bats|php|pl|pm|t"
    r"|cs|fs|vb|ex|exs|erl|hs|elm|lua|dart|r|jl|sql|vue|svelte|css|scss|html|xml|json|ya?ml|toml|ini|cfg"
    r"|gradle|tf|txt|md|mk|lock"
)
PATH = Regex(
    rf"(?<![\w:/.-])(?:\.{{0,2}}/|~/|[A-Za-z]:\\)?(?:[\w@.+-]+[/\\])*[\w@+-][\w@.+-]*\.(?:{EXTENSION})\b(?!"
    rf"\.\w)|\b(?:Makefile|Dockerfile|Gemfile|Rakefile|CMakeLists\.txt)\b"
)
URL = Regex(r"\w+://\S+")
CLOCK = Regex(r"(?<![\w:.])\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b|\d{4}-\d\d-\d\d[T ]\S*")
LINE_NUMBER = Regex(
    r"(?<=[\w)\]\"'])[:(\[]\d+\b|\bline \d+|\(\d+[:,]\d+\)|\[\d+,\d+\]|^\s*\d+:\d+\s", re.IGNORECASE
)
ERROR_TYPE = Regex(
    r"\b(?:[A-Za-z_]\w*)?[a-z]Error\b|\b[A-Z]\w*(?:Exception|Warning|Failure)\b|\b(?:SyntaxError|TypeError)\b"
    r"|\bE[A-Z]{3,}[A-Z0-9_]*\b(?<!ERROR)(?<!ERRORS)|\berror(?:\[E\d+\]| [A-Z]{2,3}\d+)|\bSIG[A-Z]{3,}\b"
    r"|\[[a-z]+(?:-[a-z]+)+\]$"
    r"|\bpanicked at\b|^panic: |\b[A-Z]{1,4}\d{3,4}\b|\bSegmentation fault\b|\bAddressSanitizer\b"
    r"|(?i:\bsyntax error\b|\bparse error\b|\bfatal error\b|\bassertion\b.*\bfailed\b|\bpermission denied\b"
    r"|\bno such file\b|\bcommand not found\b)"
)
DETAIL = Regex(
    r"\bexpect(?:ed|s|ing)?\b|\b(?:got|want(?:ed)?|received|actual|missing|undefined|undeclared|unresolved"
    r"|unexpected|unknown|invalid|unsupported)\b"
    r"|\bnot (?:defined|found|assignable|callable|a function|installed|declared|allowed|supported|in scope"
    r"|iterable)\b|\bdoes not exist\b"
    r"|\bcan ?not\b|\bcan't\b|\bcould not\b|\bunable to\b|\bno (?:such|module|attribute|matching|member"
    r"|property|method|field|rule|space)\b|\bhas no\b"
    r"|\bis (?:null|undefined|not)\b|\bdenied\b|\brefused\b|\balready in use\b|\btimed out\b|\bmust be\b"
    r"|\brequires?\b|\bassert .+(?:==|!=|<|>| in | is )|\S+ != \S+"
    r"|\b(?:mismatched|incompatible|moved|borrow(?:ed)?|unused|duplicate|ambiguous|conflict\w*|exceed\w*"
    r"|out of (?:range|bounds|memory))\b",
    re.IGNORECASE,
)
SUGGESTION = Regex(
    r"\bdid you mean\b|\b(?:try|consider|please) \w+|\bhelp: |\bhint: |\byou (?:may|might|can|could|should"
    r"|need to|must) \w+|\bto fix\b|\buse .+ instead\b"
    r"|\brun `|\bmake sure\b|\bperhaps\b|\bto add it:|\bdid you forget\b",
    re.IGNORECASE,
)


def score_error_line(line: str) -> int:
    """0..100: file 25, line number 20, type 20, detail 20, suggestion 15."""
    return sum(points for points, present in _facts(line[:4000]) if present)


def _facts(line: str) -> tuple[tuple[int, bool], ...]:
    plain = URL.sub(" ", line)
    timeless = CLOCK.sub(" ", plain)
    return (
        (25, PATH.search(plain) is not None),
        (20, LINE_NUMBER.search(timeless) is not None),
        (20, ERROR_TYPE.search(plain) is not None),
        (20, DETAIL.search(plain) is not None),
        (15, SUGGESTION.search(plain) is not None),
    )


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
    write_json(path, summary)
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
