"""What the agent CLIs say when they, not the code, are in trouble."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport

CODEX_BANNER = re.compile(r"OpenAI Codex v|codex_home|\{\"type\":\"thread\.started\"")
CODEX_ERROR = re.compile(r"(?:ERROR|error|stream error): (?P<message>\S.*)")
SPOKEN: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (tool, kind, re.compile(pattern))
    for tool, kind, pattern in (
        (
            "claude",
            "ContextOverflow",
            r"(?:API Error: .*)?(?:Prompt is too long|prompt is too long|Request too large"
            r"|Context limit reached|input length and `max_tokens` exceed|Conversation too long)",
        ),
        (
            "claude",
            "AgentLimit",
            r"(?:Claude (?:AI )?usage limit reached|You've (?:hit|reached) your .*limit"
            r"|5-hour limit reached|Error: Reached max turns|Credit balance is too low"
            r"|Your credit balance is too low)",
        ),
        (
            "claude",
            "AgentAuth",
            r"(?:Invalid API key|Please run /login|OAuth token (?:has expired|revoked)"
            r"|Failed to authenticate)",
        ),
        ("claude", "AgentError", r"(?:API Error(?: \(|: ?\d|:)|Execution error$)"),
        ("aider", "ContextOverflow", r"Model \S+ has hit a token limit!"),
        ("aider", "AgentLoop", r"Only \d+ reflections allowed, stopping"),
        ("aider", "AgentError", r"litellm\.(?:\w+\.)?\w+(?:Error|Exception|Exceeded)\b"),
        (
            "aider",
            "AgentError",
            r"The LLM did not conform to the edit format|# \d+ SEARCH/REPLACE blocks? failed to match",
        ),
        (
            "gemini",
            "AgentError",
            r"(?:Error when talking to Gemini API|\[API Error: |Error: (?:Quota exceeded"
            r"|Please set an Auth method)|Please set an Auth method|An unexpected critical error occurred:)",
        ),
        ("gemini", "AgentLoop", r"(?:A potential loop was detected|Loop detected, stopping)"),
    )
)
OVERFLOW = re.compile(
    r"context[_ ](?:length|window|size)|too long|token (?:count|limit)|maximum (?:context|number of tokens)"
    r"|too many tokens|exceeds? (?:the )?(?:available )?context|ran out of room|too large \(max",
    re.IGNORECASE,
)
LOOP = re.compile(r"loop detected|repetitive tool calls|potential loop", re.IGNORECASE)
LIMIT = re.compile(
    r"error_max_turns|\bquota\b|rate.?limit|\b429\b|usage limit|credit balance|overloaded", re.IGNORECASE
)
CHATTER = re.compile(r"Model metadata for|Reconnecting\.\.\.")

KINDS = (("AgentLoop", LOOP), ("ContextOverflow", OVERFLOW), ("AgentLimit", LIMIT))


def parse(lines: Lines) -> ToolReport:
    codex = any(CODEX_BANNER.search(line) for line in lines[:40])
    return ToolReport(tuple(_sightings(lines, codex)))


def _sightings(lines: Lines, codex: bool) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        finding = _event(line) if line.startswith("{") else _spoken(lines, index, codex)
        if finding:
            yield Sighting(finding, index, index + 1, Rank.AGENT)


def _event(line: str) -> Finding | None:
    """One line of a JSON event stream; a cut line is still recognised by its head."""
    if '"type":"error"' in line or '"type":"turn.failed"' in line or '"type": "error"' in line:
        tool = "gemini" if '"severity"' in line else "codex"
    elif '"type":"result"' in line and ('"is_error":true' in line or '"status":"error"' in line):
        tool = "claude" if '"is_error"' in line else "gemini"
    else:
        return None
    message = _message(line)
    if CHATTER.search(message) or '"type":"item.completed"' in line:
        return None
    return Finding(message, tool, type=_kind(line), lines=(line,))


def _message(line: str) -> str:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return line
    told = (
        event.get("result") or event.get("message") or event.get("error") if isinstance(event, dict) else None
    )
    if isinstance(told, dict):
        told = told.get("message")
    return told if isinstance(told, str) and told else line


def _kind(text: str) -> str:
    shown = text[:3000]
    return next((kind for kind, sign in KINDS if sign.search(shown)), "AgentError")


def _spoken(lines: Lines, index: int, codex: bool) -> Finding | None:
    line = lines[index]
    if codex and (said := CODEX_ERROR.match(line)):
        return Finding(said["message"], "codex", type=_kind(line), lines=(line,))
    for tool, kind, pattern in SPOKEN:
        if pattern.match(line):
            goes_on = " ".join(lines[index : index + 2])
            known = kind if kind != "AgentError" else _kind(goes_on)
            return Finding(line.strip(), tool, type=known, lines=(line,))
    return None
