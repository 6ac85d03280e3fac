"""The failure mode of a run, from the files in its directory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from buildloop.decode import from_json
from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.model import Attempt, Diagnosis, FailureMode, LogReading
from buildloop.diagnosis.signals import scan, with_scan
from buildloop.files import write_json
from buildloop.patterns import Regex

ERROR_SUMMARY, PROGRESS, FAILURE_MODE = "error-summary.json", "progress.md", "failure-mode.json"
ARCHIVE = Regex(r"restart-(\d+)$")
# Fields count only in the status section: the goal above it is somebody's prose.
STATUS_SECTION = Regex(r"^#+\s*Status\s*$(?P<body>.*?)(?=^#|\Z)", re.M | re.S)
FIELD = Regex(r"^[-*\s]*\**(?P<name>Status|Tests passing)\**:\**\s*(?P<value>[\w-]+)", re.M)


def classify_build_loop_failure(run_dir: Path) -> str:
    """Writes `failure-mode.json` beside what it read. What cannot be read is no evidence."""
    diagnosis = diagnose_run(read_history(run_dir))
    if run_dir.is_dir():
        write_json(run_dir / FAILURE_MODE, failure_mode_record(diagnosis, datetime.now(UTC)))
    return str(diagnosis.mode)


def diagnose_run(history: Sequence[Attempt]) -> Diagnosis:
    if not history:
        return Diagnosis(FailureMode.CODE_ERROR, 0.5, ("there is no readable error summary",))
    return diagnose(history)


def failure_mode_record(diagnosis: Diagnosis, now: datetime) -> dict[str, Any]:
    return {
        "mode": str(diagnosis.mode),
        "confidence": round(diagnosis.confidence, 2),
        "evidence": list(diagnosis.evidence),
        "runner_up": str(diagnosis.runner_up) if diagnosis.runner_up else None,
        "forced": diagnosis.forced,
        "timestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def read_history(run_dir: Path) -> list[Attempt]:
    """The archived attempts, oldest first, then the current one; unreadable ones are left out."""
    archives = [
        (int(found.group(1)), path) for path in _entries(run_dir) if (found := ARCHIVE.search(path.name))
    ]
    folders = [*(path for _, path in sorted(archives)), run_dir]
    attempts = [_attempt(folder) for folder in folders]
    if attempts[-1] is None:
        return []
    return [attempt for attempt in attempts if attempt]


def _attempt(folder: Path) -> Attempt | None:
    progress = _progress(_text(folder / PROGRESS))
    lines = _error_lines(_text(folder / ERROR_SUMMARY))
    if lines is None:
        return None
    passed = not lines or (progress.get("Tests passing") == "true" and bool(ARCHIVE.search(folder.name)))
    reading = with_scan(LogReading(error_lines=lines), scan(lines))
    return Attempt(passed=passed, reading=reading, agent_status=progress.get("Status"))


def _error_lines(text: str) -> tuple[str, ...] | None:
    """The raw lines: what was added to them later would hide that two failures are the same."""
    try:
        summary = from_json(text)
    except ValueError:
        return None
    if not isinstance(summary, dict):
        return None
    lines = summary.get("original_error_lines") or summary.get("error_lines")
    return tuple(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else None


def _progress(text: str) -> dict[str, str]:
    section = STATUS_SECTION.search(text)
    body = section.group("body") if section else text
    return {found.group("name"): found.group("value").lower() for found in FIELD.finditer(body)}


def _entries(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
