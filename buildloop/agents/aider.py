"""aider: text on stdout, exact figures in its analytics log, which stays on this machine.

Its exit code is 0 whatever happens. It has no tools: it edits the files it is told of, or finds named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from buildloop.agents.catalogue import CATALOGUE
from buildloop.agents.cli_agent import Invocation
from buildloop.agents.contract import AgentCall
from buildloop.agents.environment_keys import provider_prefixes
from buildloop.agents.failures import failure_outcome
from buildloop.agents.output import Event, at, count_at, json_lines, number_at, tail, text_at
from buildloop.agents.reading import Output, Reading, ended_without_a_word
from buildloop.files import write_atomic
from buildloop.models import AgentOutcome, Usage
from buildloop.patterns import Regex
from buildloop.workspace.git import IDENTITY

LOG = "analytics.jsonl"
STARTED = Regex(r"^Aider v\d", re.M)
# After the last report of an answered message nothing is a model's any more.
ANSWERED = Regex(r"^Tokens: .* sent,(?:.|\n)*?received\.", re.M)
ERROR = Regex(r"^litellm\.(?P<kind>\w+): (?P<words>[^\n]*(?:\n(?!The API provider|Retrying)[^\n]+)*)", re.M)
TOKEN_LIMIT = Regex(r"^Model \S+ has hit a token limit!", re.M)
WINDOW = Regex(r"^Total tokens: ~[\d,]+ of (?P<window>[\d,]+)", re.M)
HEADING = Regex(r"^(?:Repo-map: .*|Added .* to the chat\.|Git repo: .*)$", re.M)
REFLECTIONS = Regex(r"^Only \d+ reflections allowed, stopping\.", re.M)
OPTIONS = (
    "--yes-always", "--no-check-update", "--analytics-disable", "--no-show-release-notes", "--no-show-model-warnings",
    "--no-stream", "--no-pretty", "--no-fancy-input", "--no-gitignore", "--no-detect-urls",
    "--no-suggest-shell-commands",
    "--no-auto-commits", "--no-dirty-commits", "--no-auto-lint", "--no-auto-test", "--no-restore-chat-history",
)  # fmt: skip


class Aider:
    cli = CATALOGUE["aider"]

    def check(self, environment: Mapping[str, str]) -> None:
        """None of the user's settings is read."""

    def own_prefixes(self, call: AgentCall) -> tuple[str, ...]:
        return provider_prefixes(call.model)

    def prepare(self, call: AgentCall, home: Path, prompt: Path) -> Invocation:
        (home / LOG).unlink(missing_ok=True)
        _provide_prices(home)
        argv = ["aider", *OPTIONS, "--map-tokens", "1024", "--analytics-log", str(home / LOG)]
        for name in ("chat-history", "input-history", "llm-history"):
            argv += [f"--{name}-file", str(home / f"{name}.md")]
        argv += ["--model", call.model] if call.model else []
        # It runs no commands, so nothing but itself looks for a home.
        variables = {
            "HOME": str(home),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            **_git_settings(call.environment, home),
        }
        return Invocation((*argv, "--message-file", str(prompt)), variables)

    def session_is_gone(self, output: Output) -> bool:  # noqa: ARG002 (it never continues one)
        return False

    def read(self, output: Output) -> Reading:
        said = tail(output.stdout, 4 * 2**20)
        events = list(json_lines(output.home / LOG))
        sent = [at(event, "properties") for event in events if event.get("event") == "message_send"]
        usage, model = _usage(sent), _model(sent)
        answers = list(ANSWERED.finditer(said))
        after = said[answers[-1].end() :] if answers else said
        window = WINDOW.search(after)
        reading = Reading(
            AgentOutcome.OK,
            text=_prose(said),
            model=model,
            turns=len(sent) or None,
            usage=usage,
            context_window=int(window["window"].replace(",", "")) if window else None,
        )
        outcome, error, finished = _outcome(output, said, after, answered=bool(answers))
        return _with_outcome(reading, outcome, error, finished=finished)


def _outcome(output: Output, said: str, after: str, *, answered: bool) -> tuple[AgentOutcome, str, bool]:
    if output.exit_code != 0:
        return *ended_without_a_word(output, started=bool(STARTED.search(said))), False
    if TOKEN_LIMIT.search(after):
        return AgentOutcome.OVERFLOW, "the model's context is full", True
    if errors := list(ERROR.finditer(after)):
        kind, words = errors[-1]["kind"], " ".join(errors[-1]["words"].split())
        return failure_outcome(f"{kind} {words}"), words, True
    if REFLECTIONS.search(after):
        return AgentOutcome.TURN_LIMIT, "its edits did not apply three times in a row", True
    if not answered:
        return AgentOutcome.CRASHED, "it ended without an answer of the model", False
    return AgentOutcome.OK, "", True


def _with_outcome(reading: Reading, outcome: AgentOutcome, error: str, *, finished: bool) -> Reading:
    return replace(reading, outcome=outcome, error=error, finished=finished)


def _usage(sent: list[Event]) -> Usage:
    if not sent:
        return Usage()
    return Usage(
        input_tokens=sum(count_at(message, "prompt_tokens") for message in sent),
        output_tokens=sum(count_at(message, "completion_tokens") for message in sent),
        context_tokens=count_at(sent[-1], "total_tokens"),
        cost_usd=round(sum(number_at(message, "cost") for message in sent), 10) or None,
    )


def _model(sent: list[Event]) -> str | None:
    """In the log the names of models it does not know are blacked out."""
    name = text_at(sent[-1], "main_model") if sent else ""
    return None if name.endswith("REDACTED") else name or None


def _prose(said: str) -> str:
    """What the model said last: between the program's heading and its report of the tokens."""
    reports = list(ANSWERED.finditer(said))
    if not reports:
        return ""
    spoken = said[reports[-2].end() if len(reports) > 1 else 0 : reports[-1].start()]
    heading = list(HEADING.finditer(spoken))
    return spoken[heading[-1].end() if heading else 0 :].strip()


def _git_settings(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """The user's settings, and somebody to commit as: without a name it writes one into the repository's settings."""
    users = environment.get("GIT_CONFIG_GLOBAL") or str(Path(environment.get("HOME", "~")) / ".gitconfig")
    name, mail = IDENTITY
    own = home / ".gitconfig"
    write_atomic(own, f"[user]\n\tname = {name}\n\temail = {mail}\n[include]\n\tpath = {json.dumps(users)}\n")
    return {"GIT_CONFIG_GLOBAL": str(own)}


def _provide_prices(home: Path) -> None:
    """An empty price list that is fresh: else it asks the network for one at every start."""
    cache = home / ".aider" / "caches" / "model_prices_and_context_window.json"
    write_atomic(cache, '{"none": {}}\n')
