"""What the agent CLIs say when they, not the code, are in trouble."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport
from buildloop.patterns import Regex

CODEX_BANNER = Regex(r"OpenAI Codex v|codex_home|\{\"type\":\"thread\.started\"")
# What opens an event stream. An error event without it is any program's structured log.
STREAMS: tuple[tuple[str, str], ...] = (
    ("codex", '"type":"thread.started"'),
    ("gemini", '"type":"init"'),
    ("opencode", '"sessionID":"ses_'),
)
CODEX_ERROR = Regex(r"(?:ERROR|error|stream error): (?P<message>\S.*)")
SPOKEN: tuple[tuple[str, str, Regex], ...] = tuple(
    (tool, kind, Regex(pattern))
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
            r"(?:Invalid API key|Not logged in|Please run /login|OAuth token (?:has expired|revoked)"
            r"|Failed to authenticate)",
        ),
        (
            "claude",
            "AgentError",
            r"(?:API Error(?: \(|: \d{3} \{|: (?:Connection|Request|Unable|Repeated))|Execution error$)",
        ),
        ("aider", "ContextOverflow", r"Model \S+ has hit a token limit!"),
        ("aider", "AgentLoop", r"Only \d+ reflections allowed, stopping"),
        ("aider", "AgentError", r"litellm\.(?:\w+\.)?\w+: "),
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
        ("gemini", "AgentAuth", r"Gemini CLI is not running in a trusted directory"),
        ("gemini", "AgentLoop", r"(?:A potential loop was detected|Loop detected, stopping)"),
    )
)
OVERFLOW = Regex(
    r"context[_ ](?:length|window|size)|too long|token (?:count|limit)|maximum (?:context|number of tokens)"
    r"|too many tokens|exceeds? (?:the )?(?:available )?context|ran out of room|too large \(max",
    re.IGNORECASE,
)
LOOP = Regex(r"loop detected|repetitive tool calls|potential loop", re.IGNORECASE)
LIMIT = Regex(
    r"error_max_|TurnLimited|\bquota\b|rate.?limit|\b429\b|usage limit|credit balance|overloaded",
    re.IGNORECASE,
)
CHATTER = Regex(r"Model metadata for|Reconnecting\.\.\.")

KINDS = (("AgentLoop", LOOP), ("ContextOverflow", OVERFLOW), ("AgentLimit", LIMIT))


def parse(lines: Lines) -> ToolReport:
    codex = any(CODEX_BANNER.search(line) for line in lines[:40])
    stream = next((cli for cli, sign in STREAMS if any(sign in line for line in lines)), None)
    return ToolReport(tuple(_sightings(lines, codex, stream)))


def _sightings(lines: Lines, codex: bool, stream: str | None) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if line.startswith("{"):
            finding = _event(line, stream)
        elif line.strip() == '"error": {':
            finding = _report(lines, index)
        else:
            finding = _spoken(lines, index, codex)
        if finding:
            yield Sighting(finding, index, index + 1, Rank.AGENT)


def _event(line: str, stream: str | None) -> Finding | None:
    """One line of a JSON event stream; a cut line is still recognised by its head."""
    if stream and ('"type":"error"' in line or '"type":"turn.failed"' in line):
        tool = stream
    elif '"type":"result"' in line and ('"is_error":true' in line or '"status":"error"' in line):
        tool = "claude" if '"is_error"' in line else "gemini"
    else:
        return None
    message = _message(line)
    if CHATTER.search(message) or '"type":"item.completed"' in line:
        return None
    return Finding(message, tool, type=_kind(line), lines=(line,))


def _report(lines: Lines, index: int) -> Finding | None:
    """Gemini's `-o json` ends with an indented object: a session id, and an error with its message."""
    near = lines[max(0, index - 3) : index + 5]
    message = next((text for text in lines[index : index + 4] if '"message": "' in text), None)
    if message is None or not any('"session_id": "' in text for text in near):
        return None
    return Finding(message.strip(), "gemini", type=_kind(" ".join(near)), lines=(message,))


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
            if any(text.startswith("Retrying in ") for text in lines[index + 1 : index + 6]):
                return None
            goes_on = " ".join(lines[index : index + 2])
            known = kind if kind != "AgentError" else _kind(goes_on)
            return Finding(line.strip(), tool, type=known, lines=(line,))
    return None
