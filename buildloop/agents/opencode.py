"""opencode: JSON lines on stdout with exact figures for every model request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from buildloop.agents.catalogue import CATALOGUE
from buildloop.agents.cli_agent import Invocation
from buildloop.agents.contract import AgentCall
from buildloop.agents.environment_keys import provider_prefixes
from buildloop.agents.failures import failure_outcome
from buildloop.agents.output import Event, at, count_at, json_lines, last_line, number_at, tail, text_at
from buildloop.agents.reading import Output, Reading, ended_without_a_word, unique
from buildloop.errors import InputError
from buildloop.files import write_json
from buildloop.models import AgentOutcome, Permissions, Usage

# Of the user's own configuration only this is taken over: which model, from whom. No servers, plugins or agents.
KEPT = ("provider", "model", "small_model", "disabled_providers", "enabled_providers")
RULES: dict[Permissions, dict[str, str]] = {
    Permissions.ASK_NOTHING: {"*": "allow"},
    Permissions.EDIT_ONLY: {"*": "allow", "bash": "deny", "webfetch": "deny", "websearch": "deny"},
    Permissions.FULL: {"*": "allow"},
}
REJECTED = ("rejected permission", "specified a rule which prevents")
SHOWN_DETAIL = 100
SWITCHES = (
    "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_DISABLE_SHARE", "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    # With it a context that stays too full is compacted for ever, and every round is paid.
    "OPENCODE_DISABLE_AUTOCOMPACT",
)  # fmt: skip


class OpenCode:
    cli = CATALOGUE["opencode"]

    def own_prefixes(self, call: AgentCall) -> tuple[str, ...]:
        return (*provider_prefixes(call.model), "OPENCODE_API_KEY")

    def prepare(self, call: AgentCall, home: Path, prompt: Path) -> Invocation:
        given, user = call.environment, Path(call.environment.get("HOME", "~"))
        config = _users_choice(given, user)
        config |= {
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "permission": RULES[call.permissions],
        }
        write_json(home / "opencode.json", config)
        argv = ["opencode", "run", "--format", "json", "--pure", "--auto"]
        argv += ["--session", call.resume] if call.resume else ["--title", "buildloop"]
        argv += ["--model", call.model] if call.model else []
        data = Path(given.get("XDG_DATA_HOME") or user / ".local/share") / "opencode"
        folders = {
            f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")
        }
        variables = {
            **dict.fromkeys(SWITCHES, "1"),
            **folders,
            "OPENCODE_CONFIG": str(home / "opencode.json"),
        }
        lent = {home / "data" / "opencode" / "auth.json": data / "auth.json"}
        return Invocation(tuple(argv), variables, prompt, lent)

    def session_is_gone(self, output: Output) -> bool:
        return "Session not found" in tail(output.stderr)

    def read(self, output: Output) -> Reading:
        steps, error, session, text, denials, began = list[Event](), None, "", "", list[str](), False
        for event in json_lines(output.stdout):
            session = text_at(event, "sessionID") or session
            kind, part = event.get("type"), at(event, "part")
            began = began or kind == "step_start"
            if kind == "step_finish":
                steps.append(part)
                error = None
            elif kind == "text":
                text = text_at(part, "text")
            elif kind == "tool_use" and _was_denied(part):
                denials.append(_denied(part))
            elif kind == "error":
                error = at(event, "error")
        if error is not None:
            outcome, reason = _failure(error, output, began=began)
        elif steps and output.exit_code == 0:
            outcome, reason = AgentOutcome.OK, ""
        else:
            outcome, reason = ended_without_a_word(output, started=bool(session))
        return Reading(
            outcome,
            reason,
            text=text,
            session_id=session or None,
            turns=len(steps) or None,
            usage=_usage(steps),
            denials=unique(denials),
            finished=error is not None or (bool(steps) and output.exit_code == 0),
        )


def _failure(error: object, output: Output, *, began: bool) -> tuple[AgentOutcome, str]:
    name, message = text_at(error, "name"), text_at(error, "data", "message") or "no reason given"
    status = at(error, "data", "statusCode")
    if name == "UnknownError" and not began:
        # Before any request: it could not make sense of the model or of its own configuration.
        return AgentOutcome.REFUSED, f"{message} {last_line(tail(output.stderr))}".strip()
    return failure_outcome(f"{name} {message}", status if isinstance(status, int) else None), message


def _usage(steps: list[Event]) -> Usage:
    if not steps:
        return Usage()
    cost = sum(number_at(step, "cost") for step in steps)
    last = steps[-1]
    parts = (("input",), ("output",), ("reasoning",), ("cache", "read"), ("cache", "write"))
    return Usage(
        input_tokens=sum(count_at(step, "tokens", "input") for step in steps),
        cache_read_tokens=sum(count_at(step, "tokens", "cache", "read") for step in steps),
        cache_write_tokens=sum(count_at(step, "tokens", "cache", "write") for step in steps),
        output_tokens=sum(
            count_at(step, "tokens", kind) for step in steps for kind in ("output", "reasoning")
        ),
        context_tokens=sum(count_at(last, "tokens", *path) for path in parts),
        # 0 is what it says for a model whose price it does not know.
        cost_usd=round(cost, 10) or None,
    )


def _was_denied(part: object) -> bool:
    reason = text_at(part, "state", "error")
    return text_at(part, "state", "status") == "error" and any(words in reason for words in REJECTED)


def _denied(part: object) -> str:
    name, given = text_at(part, "tool"), at(part, "state", "input")
    detail = text_at(given, "command") or text_at(given, "filePath")
    return f"{name}({last_line(detail)[:SHOWN_DETAIL]})" if detail else name


def _users_choice(given: Any, user: Path) -> dict[str, Any]:  # noqa: ANN401 (an environment)
    named = given.get("OPENCODE_CONFIG")
    folder = Path(given.get("XDG_CONFIG_HOME") or user / ".config") / "opencode"
    places = (
        [Path(named)]
        if named
        else [folder / name for name in ("opencode.json", "opencode.jsonc", "config.json")]
    )
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        return {}
    try:
        known = json.loads(_without_comments(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read: {error}; mend it, or set OPENCODE_CONFIG to another file"
        ) from None
    return {name: known[name] for name in KEPT if name in known}


def _without_comments(text: str) -> str:
    """Its configuration may have comments on lines of their own, which JSON does not know."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
