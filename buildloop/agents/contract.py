"""What an agent adapter is given and what it must answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from buildloop.models import AgentReply, Permissions
from buildloop.redact import Redactor
from buildloop.sandbox import NO_SANDBOX, Sandbox

DONE_LINE = "BUILDLOOP-DONE"


@dataclass(frozen=True, slots=True)
class AgentCall:
    """One call. The prompt is a file: it may be megabytes, and it must never pass through a shell.

    `resume` is the agent's own session to go on with. `writable` are folders outside of the workspace that belong
    to it (git's, above all). `extra_env` names variables the agent gets besides what it needs itself. `budget_usd` is
    what may still be spent; an agent that can be told stops by itself when it is.
    """

    prompt: Path
    workdir: Path
    output_dir: Path
    run_dir: Path
    environment: Mapping[str, str]
    timeout: float
    mark: str
    redact: Redactor
    session: int
    iteration: int
    model: str | None = None
    permissions: Permissions = Permissions.ASK_NOTHING
    max_turns: int | None = None
    budget_usd: float | None = None
    idle_timeout: float | None = None
    resume: str | None = None
    keep_context: bool = True
    writable: tuple[Path, ...] = ()
    extra_env: tuple[str, ...] = ()
    sandbox: Sandbox = NO_SANDBOX


class Agent(Protocol):
    """An adapter. It leaves its work in `workdir`; committing is not its business."""

    name: str

    def run(self, call: AgentCall) -> AgentReply: ...


def says_done(text: str) -> bool:
    """The claim is one line of its own at the very end; a word in prose is never one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return bool(lines) and lines[-1] == DONE_LINE
