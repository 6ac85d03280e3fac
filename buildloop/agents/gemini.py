"""Gemini CLI: JSON lines on stdout with totals of the call, its session file for single model requests."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from buildloop.agents.catalogue import CATALOGUE
from buildloop.agents.cli_agent import Invocation
from buildloop.agents.contract import AgentCall
from buildloop.agents.failures import failure_outcome
from buildloop.agents.gemini_usage import document_usage, spent
from buildloop.agents.output import Event, at, count_at, dict_at, json_document, json_lines, tail, text_at
from buildloop.agents.reading import Output, Reading, ended_without_a_word, unique
from buildloop.agents.users_settings import read_settings
from buildloop.files import write_json
from buildloop.models import AgentOutcome, Permissions, Usage
from buildloop.patterns import Regex

NOTHING_SENT = "the prompt is larger than the model's context, so nothing was sent"
EMPTY_ANSWER = "INVALID_STREAM"
TURN_LIMIT_TYPE = "FatalTurnLimitedError"
INNER = Regex(r'"message":\s*"(?P<words>(?:[^"\\]|\\.)*)"')
CODE = Regex(r'"code":\s*(?P<code>[1-5]\d\d)\b')
# An exit code is one byte, so what it leaves of an HTTP status is its lower part.
STATUS_OF_EXIT = {status & 0xFF: status for status in (400, 401, 403, 429, 500, 502, 503, 504)}
NO_LOG_IN, BAD_INPUT, TURN_LIMIT, NOT_TRUSTED = 41, 42, 53, 55
MODES = {Permissions.ASK_NOTHING: "yolo", Permissions.EDIT_ONLY: "auto_edit", Permissions.FULL: "yolo"}
DENIED = frozenset({"policy_violation", "tool_not_registered", "execution_denied"})


class Gemini:
    cli = CATALOGUE["gemini"]

    def check(self, environment: Mapping[str, str]) -> None:
        _log_in(environment)

    def own_prefixes(self, call: AgentCall) -> tuple[str, ...]:  # noqa: ARG002 (the same for all calls)
        return ("GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_")

    def prepare(self, call: AgentCall, home: Path, prompt: Path) -> Invocation:
        users = _users_folder(call.environment)
        settings = _settings(call, _log_in(call.environment))
        write_json(home / ".gemini" / "settings.json", settings)
        write_json(home / "system.json", settings)
        argv = ["gemini", "--approval-mode", MODES[call.permissions], "--skip-trust", "-o", "stream-json"]
        argv += ["--resume", call.resume] if call.resume else ["--session-id", str(uuid.uuid4())]
        # A long prompt is a file there, and it reads nothing outside of the folders it knows.
        argv += ["--include-directories", str(call.output_dir)]
        argv += ["-m", call.model] if call.model else []
        variables = {
            "GEMINI_CLI_HOME": str(home),
            # These rank above the repository's own settings: no hooks and servers of its either.
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(home / "system.json"),
            # The program would start itself a second time; that parent ignores signals while a tool runs.
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }
        lent = {
            home / ".gemini" / name: users / name for name in ("oauth_creds.json", "google_accounts.json")
        }
        return Invocation(tuple(argv), variables, prompt, lent)

    def session_is_gone(self, output: Output) -> bool:
        return output.exit_code == BAD_INPUT and "Invalid session identifier" in tail(output.stderr)

    def read(self, output: Output) -> Reading:
        init, result, text, denials = Event(), Event(), "", list[str]()
        tools: dict[str, str] = {}
        for event in json_lines(output.stdout):
            kind = event.get("type")
            if kind == "init":
                init = event
            elif kind == "message" and event.get("role") == "assistant":
                text += text_at(event, "content")
            elif kind == "tool_use":
                text = ""
                tools[text_at(event, "tool_id")] = text_at(event, "tool_name")
            elif kind == "tool_result" and text_at(event, "error", "type") in DENIED:
                denials.append(tools.get(text_at(event, "tool_id"), ""))
            elif kind == "result":
                result = event
        if not init and not result:
            return _from_documents(output)
        session = text_at(init, "session_id")
        used = spent(at(result, "stats"), output, session)
        outcome, error = _outcome(result, output, started=bool(init))
        if outcome is AgentOutcome.OK and not text and used.usage.input_tokens == 0 and not tools:
            outcome, error = (
                AgentOutcome.OVERFLOW,
                "the prompt is larger than the model's context; nothing was sent",
            )
        return Reading(
            outcome,
            error,
            text=text,
            session_id=session or None,
            # At the start it may only be known that a router will choose one.
            model=used.model or text_at(init, "model") or None,
            turns=used.turns,
            usage=used.usage,
            denials=unique(denials),
            finished=bool(result),
        )


def _settings(call: AgentCall, log_in: str) -> dict[str, Any]:
    turns = {"maxSessionTurns": call.max_turns} if call.max_turns else {}
    return {
        "security": {"auth": {"selectedType": log_in}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        # Long waits are the loop's business.
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 3},
        # A context that fills up is the loop's business too: no summary of its own before all of it is used.
        "model": {"compressionThreshold": 1, **turns},
        "mcp": {"allowed": []},
        "mcpServers": {},
        "hooksConfig": {"enabled": False},
        "experimental": {"extensionManagement": False},
    }


def _users_folder(given: Mapping[str, str]) -> Path:
    return Path(given.get("GEMINI_CLI_HOME") or given.get("HOME", "~")) / ".gemini"


def _log_in(given: Mapping[str, str]) -> str:
    """A key in the environment wins; else the way the user's own installation logs in."""
    if given.get("GEMINI_API_KEY"):
        return "gemini-api-key"
    if given.get("GOOGLE_GENAI_USE_VERTEXAI") or given.get("GOOGLE_API_KEY"):
        return "vertex-ai"
    known = read_settings(_users_folder(given) / "settings.json", "set GEMINI_API_KEY")
    return text_at(known, "security", "auth", "selectedType") or "gemini-api-key"


def _outcome(result: Event, output: Output, *, started: bool) -> tuple[AgentOutcome, str]:
    if not result:
        return ended_without_a_word(output, started=started)
    if result.get("status") == "success":
        return AgentOutcome.OK, ""
    return _failure(text_at(result, "error", "type"), text_at(result, "error", "message"), output)


def _failure(kind: str, message: str, output: Output, code: int | None = None) -> tuple[AgentOutcome, str]:
    if kind == TURN_LIMIT_TYPE or output.exit_code == TURN_LIMIT:
        return AgentOutcome.TURN_LIMIT, message
    if output.exit_code in (NO_LOG_IN, BAD_INPUT, NOT_TRUSTED):
        return AgentOutcome.REFUSED, message
    found = CODE.search(message)
    status = int(found["code"]) if found else code or STATUS_OF_EXIT.get(output.exit_code)
    return failure_outcome(message, status), _plain(message)


def _from_documents(output: Output) -> Reading:
    """No stream: the reason is one JSON object on stderr, or all there is to say is one on stdout."""
    told = json_document(output.stdout) or json_document(output.stderr)
    if told is None or not ("error" in told or "stats" in told):
        outcome, error = ended_without_a_word(output, started=False)
        return Reading(outcome, error, finished=False)
    models = list(dict_at(told, "stats", "models").items())
    code, kind = at(told, "error", "code"), text_at(told, "error", "type")
    outcome, error = AgentOutcome.OK, ""
    if "error" in told and kind != EMPTY_ANSWER:
        message = text_at(told, "error", "message")
        outcome, error = _failure(kind, message, output, code if isinstance(code, int) else None)
    elif "stats" in told and not models:
        outcome, error = AgentOutcome.OVERFLOW, NOTHING_SENT
    return Reading(
        outcome,
        error,
        text=text_at(told, "response"),
        session_id=text_at(told, "session_id") or None,
        model=models[0][0] if models else None,
        turns=sum(count_at(figures, "api", "totalRequests") for _, figures in models)
        if "stats" in told
        else None,
        usage=document_usage(figures for _, figures in models) if "stats" in told else Usage(),
    )


def _plain(message: str) -> str:
    """The provider's own words out of "[API Error: {…}]"."""
    found = INNER.search(message)
    if not found:
        return message
    try:
        return str(json.loads(f'"{found["words"]}"'))
    except ValueError:
        return message
