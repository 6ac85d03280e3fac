"""Claude Code: JSON lines on stdout, one `result` or more at the end. Tried with the version in the catalogue."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from pathlib import Path

from buildloop.agents.catalogue import CATALOGUE
from buildloop.agents.claude_usage import Calls, spent
from buildloop.agents.cli_agent import Invocation
from buildloop.agents.contract import AgentCall
from buildloop.agents.environment_keys import CLOUDS
from buildloop.agents.failures import failure_outcome
from buildloop.agents.output import (
    Event,
    at,
    count_at,
    dict_at,
    json_lines,
    last_line,
    list_at,
    tail,
    text_at,
)
from buildloop.agents.reading import Output, Reading, ended_without_a_word, unique
from buildloop.files import write_atomic
from buildloop.models import AgentOutcome, Permissions

SHOWN_DETAIL = 100
LEAST_USD = 0.000001
NOTES = "project-notes.md"
# What never needs a person: reading, planning, commands. Edits are allowed by the mode, in the workspace only.
WITHOUT_ASKING = ",".join((
    "Bash", "BashOutput", "KillShell", "Read", "Glob", "Grep", "LS", "Task",
    "Agent", "ToolSearch", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "TodoWrite",
))  # fmt: skip
COMMANDS = "Bash,BashOutput,KillShell,Monitor"
PERMISSIONS: dict[Permissions, tuple[str, ...]] = {
    Permissions.ASK_NOTHING: ("--permission-mode", "acceptEdits", "--allowedTools", WITHOUT_ASKING),
    Permissions.EDIT_ONLY: ("--permission-mode", "acceptEdits", "--disallowedTools", COMMANDS),
    Permissions.FULL: ("--dangerously-skip-permissions",),
}
OWN = (
    "ANTHROPIC_", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", "API_TIMEOUT_MS",
    "MAX_THINKING_TOKENS", "BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS",
)  # fmt: skip
FULL_CONTEXT = frozenset({"prompt_too_long", "blocking_limit"})
TURN_LIMITS = frozenset({"error_max_turns", "error_max_budget_usd"})
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    # A command over its limit would go on in the background and `claude -p` would wait for it after its answer.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    # Long waits are the loop's business, and so is a full context: it hands over to a new session.
    "CLAUDE_CODE_MAX_RETRIES": "3",
    "DISABLE_AUTO_COMPACT": "1",
}


class Claude:
    cli = CATALOGUE["claude"]

    def check(self, environment: Mapping[str, str]) -> None:
        """None of the user's settings is read."""

    def own_prefixes(self, call: AgentCall) -> tuple[str, ...]:
        bedrock = CLOUDS["bedrock"] if call.environment.get("CLAUDE_CODE_USE_BEDROCK") else ()
        vertex = CLOUDS["vertex"] if call.environment.get("CLAUDE_CODE_USE_VERTEX") else ()
        return OWN + bedrock + vertex

    def prepare(self, call: AgentCall, home: Path, prompt: Path) -> Invocation:
        session = ("--resume", call.resume) if call.resume else ("--session-id", str(uuid.uuid4()))
        argv = [
            "claude", "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
            # Settings, hooks and MCP servers of the user's and of the repository stay out.
            "--setting-sources", "user", "--strict-mcp-config",
            *session,
            *PERMISSIONS[call.permissions],
        ]  # fmt: skip
        argv += _project_notes(call, home)
        argv += ["--model", call.model] if call.model else []
        argv += ["--max-turns", str(call.max_turns)] if call.max_turns else []
        if call.budget_usd is not None:
            argv += ["--max-budget-usd", f"{max(call.budget_usd, LEAST_USD):.6f}"]
        scratch = {"CLAUDE_CONFIG_DIR": str(home)}
        # Without it the program refuses full permissions for root, which is who one is in most containers.
        root = {"IS_SANDBOX": "1"} if os.geteuid() == 0 else {}
        users = Path(call.environment.get("CLAUDE_CONFIG_DIR") or _users_folder(call))
        lent = {home / ".credentials.json": users / ".credentials.json"}
        return Invocation(tuple(argv), {**QUIET, **scratch, **root}, prompt, lent)

    def session_is_gone(self, output: Output) -> bool:
        return "No conversation found with session ID" in tail(output.stderr)

    def read(self, output: Output) -> Reading:
        calls, results, init = Calls(), list[Event](), Event()
        for event in json_lines(output.stdout):
            kind = event.get("type")
            if kind == "result":
                results.append(event)
            elif kind == "system" and event.get("subtype") == "init":
                init = event
            else:
                calls.see(event)
        model = calls.model or text_at(init, "model") or None
        session = text_at(init, "session_id") or text_at(results, -1, "session_id") or None
        if not results:
            outcome, error = ended_without_a_word(output, started=bool(init))
            return Reading(
                outcome, error, calls.text, session, model, calls.count, calls.usage(), finished=False
            )
        last = results[-1]
        model = model or next(iter(dict_at(last, "modelUsage")), None)
        outcome, error = _outcome(last)
        usage = spent(results, output.home, session, resumed=output.resumed is not None)
        return Reading(
            outcome,
            error,
            text=text_at(last, "result") if outcome is AgentOutcome.OK else "",
            session_id=session,
            model=model,
            turns=sum(count_at(result, "num_turns") for result in results),
            usage=usage.model_copy(update={"context_tokens": calls.fill}),
            context_window=_window(last, model, output),
            denials=unique([_denied(denial) for denial in list_at(last, "permission_denials")]),
        )


def _project_notes(call: AgentCall, home: Path) -> list[str]:
    """The repository's settings stay out, and its CLAUDE.md would with them; that one is meant to be read."""
    folders = dict.fromkeys(
        [*(folder for folder in call.writable if call.workdir.is_relative_to(folder)), call.workdir]
    )
    places = [folder / name for folder in folders for name in ("CLAUDE.md", ".claude/CLAUDE.md")]
    notes = [place.read_text(encoding="utf-8", errors="replace") for place in places if place.is_file()]
    if not notes:
        return []
    write_atomic(home / NOTES, "\n\n".join(notes))
    return ["--append-system-prompt-file", str(home / NOTES)]


def _users_folder(call: AgentCall) -> Path:
    return Path(call.environment.get("HOME") or Path.home()) / ".claude"


def _outcome(result: Event) -> tuple[AgentOutcome, str]:
    """`subtype` is "success" on errors of the provider too; only `is_error` tells."""
    if not result.get("is_error"):
        return AgentOutcome.OK, ""
    message = text_at(result, "result") or "; ".join(map(str, list_at(result, "errors"))) or "no reason given"
    if text_at(result, "subtype") in TURN_LIMITS:
        return AgentOutcome.TURN_LIMIT, message
    if text_at(result, "terminal_reason") in FULL_CONTEXT:
        return AgentOutcome.OVERFLOW, message
    if result.get("subtype") == "error_during_execution":
        return AgentOutcome.CRASHED, f"it was interrupted: {message}"
    status = at(result, "api_error_status")
    return failure_outcome(message, status if isinstance(status, int) else None), message


def _window(result: Event, model: str | None, output: Output) -> int | None:
    """For a model it does not know the program makes a window up; it says so on stderr."""
    if "unrecognized_model" in tail(output.stderr):
        return None
    models = dict_at(result, "modelUsage")
    busiest = max(models, key=lambda name: count_at(models, name, "outputTokens"), default="")
    return count_at(models, model if model and model in models else busiest, "contextWindow") or None


def _denied(denial: object) -> str:
    given = at(denial, "tool_input")
    detail = text_at(given, "command") or text_at(given, "file_path") or text_at(given, "url")
    name = text_at(denial, "tool_name")
    return f"{name}({last_line(detail)[:SHOWN_DETAIL]})" if detail else name
