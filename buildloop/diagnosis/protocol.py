"""The batch protocol of `buildloop diagnose --jsonl`: one request in, one answer out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.fingerprint import fingerprint_reading, same_failure
from buildloop.diagnosis.model import Attempt, Diagnosis, LogReading
from buildloop.diagnosis.observe import observe_log, observe_text
from buildloop.diagnosis.rubric import score_error_line

Json = dict[str, Any]
T = TypeVar("T")
MAX_ERROR_LINES = 20
MAX_EVIDENCE = 600


class BadRequestError(ValueError):
    """A request that cannot be answered; the text says why in one sentence."""


def answer(request: Json) -> Json:
    match request.get("kind"):
        case "log":
            return _answer_log(request)
        case "episode":
            return _answer_episode(request)
        case "pair":
            return {"id": request.get("id"), "same": same_failure(_text(request, "a"), _text(request, "b"))}
        case other:
            raise BadRequestError(f"kind must be log, episode or pair, not {other!r}")


def log_answer(reading: LogReading, diagnosis: Diagnosis) -> Json:
    """What is known about one log."""
    lines = error_lines(reading, diagnosis)
    return {
        "mode": str(diagnosis.mode),
        "confidence": round(diagnosis.confidence, 2),
        "runner_up": str(diagnosis.runner_up) if diagnosis.runner_up else None,
        "evidence": [line[:MAX_EVIDENCE] for line in diagnosis.evidence],
        "category": str(diagnosis.category),
        "error_class": str(diagnosis.error_class),
        "tests": _tests(reading),
        "error_lines": list(lines),
        "location": reading.location,
        "actionability": sum(map(score_error_line, lines)) // len(lines) if lines else 0,
        "fingerprint": fingerprint_reading(reading),
    }


def error_lines(reading: LogReading, diagnosis: Diagnosis) -> tuple[str, ...]:
    """The log's lines, the ones that decided first where the parsers did not already choose them."""
    decisive = [signal.line for signal in reading.signals if signal.line in diagnosis.evidence]
    chosen = {line.strip() for line in reading.error_lines}
    added = [line for line in decisive if line not in chosen]
    return tuple(dict.fromkeys((*added, *reading.error_lines)))[:MAX_ERROR_LINES]


def _answer_log(request: Json) -> Json:
    reading = _reading(request)
    repo = request.get("repo")
    diagnosis = diagnose(
        [Attempt(passed=False, reading=reading, exit_code=request.get("exit_code"))],
        first_party=_names(request),
        repo=Path(repo) if isinstance(repo, str) and repo else None,
    )
    return {"id": request.get("id"), **log_answer(reading, diagnosis)}


def _answer_episode(request: Json) -> Json:
    iterations = request.get("iterations")
    if not isinstance(iterations, list) or not iterations:
        raise BadRequestError("iterations must be a list with at least one entry")
    history = [_attempt(iteration) for iteration in iterations]
    window = _optional(request, "context_window", int)
    diagnoses = [
        None
        if attempt.passed
        else diagnose(history[: index + 1], context_window=window, first_party=_names(request))
        for index, attempt in enumerate(history)
    ]
    last = diagnoses[-1]
    return {
        "id": request.get("id"),
        "mode": str(last.mode) if last else None,
        "modes": [str(diagnosis.mode) if diagnosis else None for diagnosis in diagnoses],
        "confidence": round(last.confidence, 2) if last else 1.0,
        "evidence": [line[:MAX_EVIDENCE] for line in last.evidence] if last else [],
    }


def _attempt(iteration: Any) -> Attempt:  # noqa: ANN401 (unchecked JSON)
    if not isinstance(iteration, dict) or not isinstance(iteration.get("passed"), bool):
        raise BadRequestError("every iteration must be an object with a boolean `passed`")
    passed = iteration["passed"]
    return Attempt(
        passed=passed,
        reading=LogReading() if passed else _reading(iteration, required=False),
        exit_code=_optional(iteration, "exit_code", int),
        tree=_optional(iteration, "tree", str),
        changed=_optional(iteration, "changed", bool),
        diff=_optional(iteration, "diff", str) or "",
        input_tokens=_optional(iteration, "input_tokens", int),
        output_tokens=_optional(iteration, "output_tokens", int),
        context_tokens=_optional(iteration, "context_tokens", int),
        agent_status=_optional(iteration, "agent_status", str),
        agent_output=_optional(iteration, "agent_output", str) or "",
    )


def _reading(request: Json, *, required: bool = True) -> LogReading:
    exit_code = _optional(request, "exit_code", int)
    if isinstance(text := request.get("text"), str):
        return observe_text(text, exit_code)
    if isinstance(path := request.get("log"), str) and path:
        try:
            return observe_log(Path(path), exit_code)
        except (OSError, ValueError) as error:
            raise BadRequestError(
                f"cannot read the log {path!r}: {getattr(error, 'strerror', None) or error}"
            ) from error
    if required:
        raise BadRequestError("a log request needs `log` (a path) or `text`")
    return LogReading()


def _optional(request: Json, key: str, kind: type[T]) -> T | None:
    value = request.get(key)
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadRequestError(f"`{key}` must be {kind.__name__}, not {type(value).__name__}")
    return value


def _text(request: Json, key: str) -> str:
    if not isinstance(value := request.get(key), str):
        raise BadRequestError(f"`{key}` must be text")
    return value


def _names(request: Json) -> Sequence[str]:
    names = request.get("first_party") or ()
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise BadRequestError("`first_party` must be a list of names")
    return names


def _tests(reading: LogReading) -> Json | None:
    counts = reading.counts
    if counts is None:
        return None
    return {
        "run": counts.run,
        "passed": counts.passed,
        "failed": counts.failed,
        "skipped": counts.skipped,
        "failing": list(reading.failing),
    }
