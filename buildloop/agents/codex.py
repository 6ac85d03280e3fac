"""Codex CLI: JSON lines on stdout for what happened, the thread's rollout file for exact figures."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from glob import escape
from pathlib import Path
from typing import Any

from buildloop.agents.boundaries import confines
from buildloop.agents.catalogue import CATALOGUE
from buildloop.agents.cli_agent import Invocation
from buildloop.agents.contract import AgentCall
from buildloop.agents.failures import failure_outcome
from buildloop.agents.output import Event, at, count_at, json_lines, tail, text_at
from buildloop.agents.reading import Output, Reading, ended_without_a_word, unique
from buildloop.choices import SandboxKind
from buildloop.errors import InputError
from buildloop.files import write_atomic
from buildloop.models import AgentOutcome, Permissions, Usage
from buildloop.patterns import Regex

STATUS = Regex(r"status:? (?P<code>[1-5]\d\d)\b", re.I)
# Of the user's own configuration only this is taken over: which model, from whom. No hooks, servers or plugins.
KEPT = ("model", "model_provider", "model_providers", "model_reasoning_effort", "openai_base_url")
OWN = {
    "check_for_update_on_startup": False,
    # Else every command runs in a log-in shell, which resets PATH: a project's own tools are lost.
    "allow_login_shell": False,
    "features": {"plugins": False, "apps": False, "unbounded_connection_retries": False},
    "analytics": {"enabled": False},
}
NO_SANDBOX = ("--dangerously-bypass-approvals-and-sandbox",)
# As settings: `exec resume` does not know the option `exec` has for it.
OWN_SANDBOX = ("-c", 'sandbox_mode="workspace-write"', "-c", "sandbox_workspace_write.network_access=true")


class Codex:
    cli = CATALOGUE["codex"]

    def check(self, environment: Mapping[str, str]) -> None:
        _users_choice(_users_folder(environment) / "config.toml")

    def own_prefixes(self, call: AgentCall) -> tuple[str, ...]:  # noqa: ARG002 (the same for all calls)
        return ("OPENAI_", "CODEX_API_KEY", "AZURE_OPENAI_")

    def prepare(self, call: AgentCall, home: Path, prompt: Path) -> Invocation:
        users = _users_folder(call.environment)
        config = {**_users_choice(users / "config.toml"), **OWN}
        if base := call.environment.get("OPENAI_BASE_URL"):
            config["openai_base_url"] = base
        write_atomic(home / "config.toml", _toml(config), raw=True)  # a masked key opens nothing
        # Inside our own boundary or sandbox the program's cannot be set up, and need not be.
        held = confines(call) or call.sandbox.kind is not SandboxKind.NONE
        ours = held or call.permissions is Permissions.FULL
        options = ["--json", "--skip-git-repo-check", *(NO_SANDBOX if ours else OWN_SANDBOX)]
        options += ["-m", call.model] if call.model else []
        what = ["exec", "resume", *options, call.resume] if call.resume else ["exec", *options]
        key = call.environment.get("CODEX_API_KEY") or call.environment.get("OPENAI_API_KEY")
        variables = {"CODEX_HOME": str(home), **({"CODEX_API_KEY": key} if key else {})}
        keys = _keys_of(config) & set(call.environment)
        variables |= {name: call.environment[name] for name in keys}
        lent = {} if key else {home / "auth.json": users / "auth.json"}
        return Invocation(("codex", *what, "-"), variables, prompt, lent)

    def session_is_gone(self, output: Output) -> bool:
        return "no rollout found for thread id" in tail(output.stderr)

    def read(self, output: Output) -> Reading:
        session, text, denials = "", "", list[str]()
        completed, failed, complaint = None, None, ""
        for event in json_lines(output.stdout):
            kind, item = event.get("type"), at(event, "item")
            session = text_at(event, "thread_id") or session
            if kind == "item.completed" and text_at(item, "type") == "agent_message":
                text = text_at(item, "text")
            elif kind == "item.completed" and text_at(item, "status") == "declined":
                denials.append(text_at(item, "command") or text_at(item, "type"))
            elif kind == "turn.completed":
                completed = event
            elif kind == "turn.failed":
                failed = text_at(event, "error", "message")
            elif kind == "error":
                complaint = text_at(event, "message")
        rollout = _rollout(output.home, session)
        told = completed is not None and output.resumed is None
        usage = rollout.usage() or (_usage(at(completed, "usage")) if told else Usage())
        if failed is not None:
            outcome, error = _failure(failed)
        elif completed is not None:
            outcome, error = AgentOutcome.OK, ""
        else:
            outcome, error = ended_without_a_word(output, started=bool(session))
            error = f"{error} ({complaint})" if complaint else error
        return Reading(
            outcome,
            error,
            text=text,
            session_id=session or None,
            model=rollout.model,
            turns=rollout.turns,
            usage=usage,
            context_window=rollout.window,
            denials=unique(denials),
            finished=failed is not None or completed is not None,
        )


class _Rollout:
    """One record a model call, one `task_started` a call of the program; only what came after the last counts."""

    def __init__(self, lines: list[Event]) -> None:
        self.window: int | None = None
        self.model: str | None = None
        self.calls: list[Usage] = []
        self.known = bool(lines)
        for line in lines:
            payload = at(line, "payload")
            if text_at(payload, "type") == "task_started":
                self.calls = []
                self.window = count_at(payload, "model_context_window") or self.window
            elif line.get("type") == "token_usage_record":
                self.calls.append(_usage(at(payload, "usage")))
            elif line.get("type") == "turn_context":
                self.model = text_at(payload, "model") or self.model

    @property
    def turns(self) -> int | None:
        return len(self.calls) if self.known else None

    def usage(self) -> Usage | None:
        if not self.calls:
            return None
        names = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
        summed = {name: sum(getattr(call, name) or 0 for call in self.calls) for name in names}
        last = self.calls[-1]
        parts = (last.input_tokens, last.cache_read_tokens, last.cache_write_tokens, last.output_tokens)
        return Usage(**summed, context_tokens=sum(part or 0 for part in parts))


def _rollout(home: Path, session: str) -> _Rollout:
    found = sorted((home / "sessions").glob(f"**/rollout-*-{escape(session)}.jsonl")) if session else []
    return _Rollout(list(json_lines(found[-1])) if found else [])


def _usage(figures: object) -> Usage:
    """Its `input_tokens` include what came from the cache or went there; ours do not."""
    read, written = count_at(figures, "cached_input_tokens"), count_at(figures, "cache_write_input_tokens")
    return Usage(
        input_tokens=max(0, count_at(figures, "input_tokens") - read - written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=count_at(figures, "output_tokens"),
    )


def _failure(message: str) -> tuple[AgentOutcome, str]:
    """The message may be the provider's answer as it came: then its code and type say more than its words."""
    try:
        body = json.loads(message)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict):
        said = text_at(body, "error", "message") or message
        kinds = f"{text_at(body, 'error', 'code')} {text_at(body, 'error', 'type')}"
        return failure_outcome(f"{kinds} {said}"), said
    found = STATUS.search(message)
    return failure_outcome(message, int(found["code"]) if found else None), message


def _users_folder(given: Mapping[str, str]) -> Path:
    return Path(given.get("CODEX_HOME") or Path(given.get("HOME", "~")) / ".codex")


def _users_choice(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            f"{path} cannot be read: {error}; mend it, or set CODEX_HOME to another folder"
        ) from None
    return {name: given[name] for name in KEPT if name in given}


def _keys_of(config: Mapping[str, Any]) -> set[str]:
    providers = config.get("model_providers") or {}
    return {text_at(provider, "env_key") for provider in providers.values()} - {""}


def _toml(table: Mapping[str, Any], path: str = "") -> str:
    """Values first, then tables, as TOML wants it. Strings of JSON are strings of TOML."""
    values = {name: value for name, value in table.items() if not isinstance(value, dict)}
    lines = [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in values.items()]
    for name, value in table.items():
        if isinstance(value, dict):
            inner = f"{path}.{json.dumps(name)}" if path else json.dumps(name)
            lines += ["", f"[{inner}]", _toml(value, inner)]
    return "\n".join(lines) + "\n"
