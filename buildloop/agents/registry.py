"""Which agents there are."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path

from buildloop.agents.aider import Aider
from buildloop.agents.catalogue import CATALOGUE
from buildloop.agents.claude import Claude
from buildloop.agents.cli_agent import Adapter, CliAgent
from buildloop.agents.codex import Codex
from buildloop.agents.command import CommandAgent
from buildloop.agents.contract import Agent
from buildloop.agents.gemini import Gemini
from buildloop.agents.opencode import OpenCode
from buildloop.agents.scripted import ScriptedAgent
from buildloop.agents.unused_options import refuse_broken_promises
from buildloop.errors import InputError
from buildloop.request import BuildRequest

ADAPTERS: Mapping[str, Callable[[], Adapter]] = {
    "claude": Claude,
    "codex": Codex,
    "gemini": Gemini,
    "opencode": OpenCode,
    "aider": Aider,
}


def _command(request: BuildRequest) -> Agent:
    agent = CommandAgent(request.agent_command or "")
    agent.check(Path(request.repo))
    return agent


def _scripted(request: BuildRequest) -> Agent:
    return ScriptedAgent(Path(request.agent_script or ""))


def _cli(request: BuildRequest) -> Agent:
    cli = CATALOGUE[request.agent]
    if request.permissions not in cli.permissions:
        known = " or ".join(cli.permissions)
        raise InputError(
            f"{cli.title} has no way to allow {request.permissions}; choose --permissions {known}"
        )
    agent = cli_agent(request.agent)
    agent.check()
    return agent


AGENTS: Mapping[str, Callable[[BuildRequest], Agent]] = {
    "command": _command,
    "scripted": _scripted,
    **dict.fromkeys(ADAPTERS, _cli),
}


def cli_agent(name: str) -> CliAgent:
    return CliAgent(ADAPTERS[name]())


def check_agent_name(name: str) -> None:
    if name in AGENTS:
        return
    near = difflib.get_close_matches(name, AGENTS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"there is no agent {name!r}; {hint}known agents: {', '.join(sorted(AGENTS))}")


def check_agents(request: BuildRequest) -> None:
    """Every agent of the ladder must be usable before the run starts, not when it is needed at night."""
    refuse_broken_promises(request)
    for choice in request.agents:
        agent_for(request.using(choice))
    if request.falsifier is not None:
        agent_for(as_falsifier(request))


def as_falsifier(request: BuildRequest) -> BuildRequest:
    """This request with the second agent in the first one's place."""
    choice = request.falsifier
    assert choice is not None
    return request.using(choice).model_copy(update={"agent_command": request.falsify_command})


def agent_for(request: BuildRequest) -> Agent:
    """The adapter a request names, checked to be usable. The one place that maps names to programs."""
    check_agent_name(request.agent)
    return AGENTS[request.agent](request)
