"""The ladder of agents: which programs, with which models, in which order."""

from __future__ import annotations

from buildloop.frozen import Frozen


class AgentChoice(Frozen):
    """One rung: which program, with which model (None: the program's own default)."""

    agent: str
    model: str | None = None

    def __str__(self) -> str:
        return f"{self.agent}:{self.model}" if self.model else self.agent


def agent_ladder(agents: str, models: str | None) -> tuple[AgentChoice, ...]:
    """`claude:sonnet,codex` and the like; `models` belong to the first agent that names none."""
    left = [name.strip() for name in (models or "").split(",") if name.strip()]
    choices: list[AgentChoice] = []
    for word in filter(None, (part.strip() for part in agents.split(","))):
        name, _, model = word.partition(":")
        own: list[str | None] = [model] if model else [*left] or [None]
        choices += [AgentChoice(agent=name, model=one) for one in own]
        left = left if model else []
    return tuple(choices)
