"""opencode: JSON lines on stdout with exact figures for every model request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from buildloop.agents.catalogue import CATALOGUE
from buildloop.agents.cli_agent import Invocation
from buildloop.agents.contract import AgentCall
from buildloop.agents.environment_keys import provider_prefixes
from buildloop.agents.failures import failure_outcome
from buildloop.agents.output import Event, at, count_at, json_lines, last_line, number_at, tail, text_at
from buildloop.agents.reading import Output, Reading, ended_without_a_word, unique
from buildloop.agents.users_settings import merged, read_settings
from buildloop.files import write_json
from buildloop.models import AgentOutcome, Permissions, Usage
from buildloop.patterns import Regex

# Of the user's own configuration only this is taken over: which model, from whom. No servers, plugins or agents.
KEPT = ("provider", "model", "small_model", "disabled_providers", "enabled_providers")
RULES: dict[Permissions, dict[str, str]] = {
    Permissions.ASK_NOTHING: {"*": "allow"},
    Permissions.EDIT_ONLY: {"*": "allow", "bash": "deny", "webfetch": "deny", "websearch": "deny"},
    Permissions.FULL: {"*": "allow"},
}
# A tool that a rule takes away is not offered, and a call of it comes back as one of "invalid".
TAKEN_AWAY = frozenset(name for rules in RULES.values() for name, rule in rules.items() if rule == "deny")
NAMED_VARIABLE = Regex(r"\{env:(?P<name>\w+)\}")
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

    def check(self, environment: Mapping[str, str]) -> None:
        _users_choice(environment)

    def own_prefixes(self, call: AgentCall) -> tuple[str, ...]:
        config = _users_choice(call.environment)
        model = call.model or text_at(config, "model") or None
        used = {model, text_at(config, "small_model") or model}
        keys = [prefix for one in used for prefix in provider_prefixes(one)]
        return (*unique(keys), *_named_variables(config, used), "OPENCODE_API_KEY")

    def prepare(self, call: AgentCall, home: Path, prompt: Path) -> Invocation:
        given = call.environment
        rules = RULES[call.permissions]
        config = _users_choice(given) | {
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "permission": rules,
            "instructions": _project_notes(call),
        }
        write_json(home / "opencode.json", config, raw=True)  # a masked key opens nothing
        argv = ["opencode", "run", "--format", "json", "--pure", "--auto"]
        argv += ["--session", call.resume] if call.resume else ["--title", "buildloop"]
        argv += ["--model", call.model] if call.model else []
        data = Path(given.get("XDG_DATA_HOME") or _home(given) / ".local/share") / "opencode"
        folders = {
            f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")
        }
        variables = {
            **dict.fromkeys(SWITCHES, "1"),
            **folders,
            "OPENCODE_CONFIG": str(home / "opencode.json"),
            # It also looks into ~/.opencode, for servers, agents and settings that rank above the file we name.
            # Commands it runs still get the user's HOME.
            "OPENCODE_TEST_HOME": str(home),
            # Ranks above all files, wherever it finds some.
            "OPENCODE_PERMISSION": json.dumps(rules),
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
    if text_at(part, "tool") == "invalid":
        return text_at(part, "state", "input", "tool") in TAKEN_AWAY
    reason = text_at(part, "state", "error")
    return text_at(part, "state", "status") == "error" and any(words in reason for words in REJECTED)


def _denied(part: object) -> str:
    name, given = text_at(part, "tool"), at(part, "state", "input")
    if name == "invalid":
        return text_at(given, "tool")
    detail = text_at(given, "command") or text_at(given, "filePath")
    return f"{name}({last_line(detail)[:SHOWN_DETAIL]})" if detail else name


def _project_notes(call: AgentCall) -> list[str]:
    """The repository's settings stay out, and its AGENTS.md would with them; that one is meant to be read."""
    folders = [folder for folder in call.writable if call.workdir.is_relative_to(folder)]
    places = [folder / "AGENTS.md" for folder in dict.fromkeys([*folders, call.workdir])]
    return [str(place) for place in places if place.is_file()]


def _home(given: Mapping[str, str]) -> Path:
    return Path(given.get("HOME", "~"))


def _users_choice(given: Mapping[str, str]) -> dict[str, Any]:
    """From the places where it looks itself, later ones above earlier ones; a file that is named stands alone."""
    folder = Path(given.get("XDG_CONFIG_HOME") or _home(given) / ".config") / "opencode"
    places = [folder / name for name in ("config.json", "opencode.json", "opencode.jsonc")]
    places += [_home(given) / ".opencode" / name for name in ("opencode.json", "opencode.jsonc")]
    if named := given.get("OPENCODE_CONFIG"):
        places = [Path(named)]
    known: dict[str, Any] = {}
    for place in places:
        known = merged(known, read_settings(place, "set OPENCODE_CONFIG to another file"))
    return {name: known[name] for name in KEPT if name in known}


def _named_variables(config: Mapping[str, Any], models: set[str | None]) -> tuple[str, ...]:
    """What the entries of the models' providers say that they need; of all entries where no model is named."""
    entries = at(config, "provider")
    entries = entries if isinstance(entries, dict) else {}
    wanted = {model.partition("/")[0] for model in models if model} or set(entries)
    used = [entries[name] for name in entries if name in wanted]
    listed = [str(name) for entry in used for name in at(entry, "env") or []]
    return unique(listed + [found["name"] for found in NAMED_VARIABLE.finditer(json.dumps(used))])
