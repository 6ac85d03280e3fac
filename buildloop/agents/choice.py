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
        name, colon, model = (part.strip() for part in word.partition(":"))
        if colon and not (name and model):
            raise ValueError(f"agent {word!r} lacks a name or a model; write NAME:MODEL, or NAME alone")
        own: list[str | None] = [model] if model else [*left] or [None]
        choices += [AgentChoice(agent=name, model=one) for one in own]
        left = left if model else []
    return tuple(choices)


def check_ladder(choices: tuple[AgentChoice, ...], command: str | None, script: str | None) -> None:
    """At least one agent, and what those of them need that are no program of their own."""
    names = {choice.agent for choice in choices}
    if not names:
        raise ValueError("name at least one agent, e.g. --agent claude")
    if "command" in names and command is None:
        raise ValueError(
            "agent 'command' needs its program; give it with --agent-command 'PROGRAM …' (agent_command)"
        )
    if "scripted" in names and script is None:
        raise ValueError(
            "agent 'scripted' needs its rules; give the path of the file with --agent-script (agent_script)"
        )


def check_falsifier(falsify: str | None, command: str | None) -> None:
    """One agent that can write a test; a rule file knows nothing of the work it would have to refute."""
    choices = agent_ladder(falsify or "command", None)
    if len(choices) != 1:
        raise ValueError("--falsify takes one agent only, e.g. --falsify claude:opus")
    if choices[0].agent == "scripted":
        raise ValueError("--falsify cannot be the scripted agent; use --falsify-command 'PROGRAM …'")
    if choices[0].agent == "command" and command is None:
        raise ValueError(
            "falsify 'command' needs its program; give it with --falsify-command 'PROGRAM …' (falsify_command)"
        )
