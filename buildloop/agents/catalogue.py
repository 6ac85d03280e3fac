"""The agent CLIs we know: what each can do, how to install it, and the version everything here was tried with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from buildloop.models import Permissions


@dataclass(frozen=True, slots=True)
class AgentCli:
    """One row of the table. `tested` is the one place where a version is pinned: tests install exactly it.

    `longest_prompt` is how many bytes are sent at once; what is longer the agent is told to read from its file.
    That is below what any of the programs takes, and leaves room in a usual context.
    """

    name: str
    title: str
    registry: str
    package: str
    tested: str
    keys: tuple[str, ...]
    permissions: tuple[Permissions, ...] = tuple(Permissions)
    resumes: bool = True
    limits_turns: bool = False
    tells_cost: bool = False
    tells_window: bool = False
    longest_prompt: int | None = 400_000
    notes: str = ""

    @property
    def install(self) -> str:
        if self.registry == "npm":
            return f"npm install -g {self.package}@{self.tested}"
        return f"uv tool install {self.package}=={self.tested}"


CATALOGUE: Mapping[str, AgentCli] = {
    row.name: row
    for row in (
        AgentCli(
            name="claude",
            title="Claude Code",
            registry="npm",
            package="@anthropic-ai/claude-code",
            tested="2.1.325",
            keys=("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "its own log-in"),
            limits_turns=True,
            tells_cost=True,
            tells_window=True,
        ),
        AgentCli(
            name="codex",
            title="Codex CLI",
            registry="npm",
            package="@openai/codex",
            tested="0.166.0",
            keys=("CODEX_API_KEY", "OPENAI_API_KEY", "its own log-in"),
            permissions=(Permissions.ASK_NOTHING, Permissions.FULL),
            tells_window=True,
        ),
        AgentCli(
            name="gemini",
            title="Gemini CLI",
            registry="npm",
            package="@google/gemini-cli",
            tested="0.61.0",
            keys=("GEMINI_API_KEY", "GOOGLE_API_KEY", "its own log-in"),
            limits_turns=True,
        ),
        AgentCli(
            name="opencode",
            title="opencode",
            registry="npm",
            package="opencode-ai",
            tested="1.18.33",
            keys=("that of the model's provider", "its own log-in"),
            tells_cost=True,
            notes="--model is provider/model",
        ),
        AgentCli(
            name="aider",
            title="aider",
            registry="PyPI",
            package="aider-chat",
            tested="0.86.2",
            keys=("that of the model's provider",),
            resumes=False,
            longest_prompt=None,
            tells_cost=True,
            notes="runs no commands; edits files that the goal or the findings name",
        ),
    )
}
