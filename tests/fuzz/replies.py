"""What agent CLIs print: recorded calls of the real ones with a value changed, a line cut or nonsense between."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from buildloop.agents.contract import AgentCall
from buildloop.agents.failures import failure_outcome, reset_time
from buildloop.agents.reading import Output
from buildloop.agents.registry import ADAPTERS, cli_agent
from buildloop.models import AgentReply
from buildloop.process import ProcessResult
from buildloop.redact import redactor
from tests.agents.captured import load
from tests.fuzz.target import Target, put
from tests.fuzz.values import DEEP, TEXT, as_bytes, near

EXITS = st.sampled_from([0, 1, 2, 41, 42, 44, 52, 53, 55, 130, 137, 143])


@dataclass(frozen=True)
class Printed:
    stdout: str
    stderr: str
    beside: str
    exit_code: int


def _documents(text: str) -> list[Any]:
    """The JSON objects among the lines, or the one that the whole is."""
    found = []
    for piece in [*text.splitlines(), text]:
        try:
            value = json.loads(piece)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


@cache
def _known(cli: str) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """One document of each shape this CLI has printed, and its plain lines."""
    shapes: dict[str, Any] = {}
    plain: dict[str, None] = {}
    for capture in load(cli).values():
        for text in (capture.stdout, capture.stderr):
            for one in _documents(text):
                shapes.setdefault(f"{one.get('type')} {one.get('subtype')} {sorted(one)}", one)
            plain |= dict.fromkeys(line for line in text.splitlines() if not line.startswith("{"))
    return tuple(shapes.values()), tuple(plain)


def printed_by(cli: str) -> st.SearchStrategy[Printed]:
    documents, plain = _known(cli)
    said = st.sampled_from(plain) if plain else TEXT
    if documents:
        whole = st.sampled_from([json.dumps(one) for one in documents])
        said = said | whole | near(*documents) | DEEP
    text = st.lists(said | TEXT, max_size=8).map("\n".join)
    return st.builds(Printed, text, text, text, EXITS)


# Where the CLIs keep notes of their own that their adapters read.
BESIDE = {
    "claude": "totals.json",
    "codex": "sessions/2026/11/16/rollout-1-{session}.jsonl",
    "gemini": ".gemini/tmp/x/chats/session-1-{session}.json",
    "opencode": "opencode.json",
    "aider": "analytics.jsonl",
}


def _read(name: str, printed: Printed, folder: Path) -> None:
    agent = cli_agent(name)
    out = put(folder / "agent.out", as_bytes(printed.stdout))
    err = put(folder / "agent.err", as_bytes(printed.stderr))
    put(folder / "home" / BESIDE[name].format(session="s"), as_bytes(printed.beside))
    put(folder / "prompt.md", b"prompt")
    for resumed in (None, "s"):
        output = Output(out, err, printed.exit_code, folder / "home", folder, 0.0, resumed)
        agent.adapter.session_is_gone(output)
        reading = agent.adapter.read(output)
        result = ProcessResult(exit_code=printed.exit_code, seconds=1.0, timed_out=False)
        reply = agent._reply(_call(folder), reading, result)
        assert AgentReply.model_validate_json(reply.model_dump_json()) == reply


def _call(folder: Path) -> AgentCall:
    return AgentCall(
        prompt=folder / "prompt.md",
        workdir=folder,
        output_dir=folder,
        run_dir=folder,
        environment={},
        timeout=10,
        mark="m",
        redact=redactor({}),
        session=1,
        iteration=1,
    )


def _error_words(given: tuple[str, int | None], _: Path) -> None:
    message, status = given
    failure_outcome(message, status)
    reset_time(message, datetime(2026, 11, 16, tzinfo=UTC))


SAYS_WHEN = st.from_regex(
    r"(try again|resets?) (in|at|after) (\d{1,400}(\.\d)? ?(s|m|h|ms)|\d{1,2}(:\d\d)? ?(am|pm)( \(\w+/\w+\))?)"
    r"|limit reached\|1\d{9}|20\d\d-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)"
)

REPLY_TARGETS: tuple[Target, ...] = (
    *(Target(f"output of {name}", printed_by(name), partial(_read, name)) for name in ADAPTERS),
    Target("an agent's error", st.tuples(SAYS_WHEN | TEXT, st.none() | st.integers()), _error_words),
)
