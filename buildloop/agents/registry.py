"""Which agents there are."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path

from buildloop.agents.command import CommandAgent
from buildloop.agents.contract import Agent
from buildloop.agents.scripted import ScriptedAgent
from buildloop.errors import InputError
from buildloop.request import BuildRequest


def _command(request: BuildRequest) -> Agent:
    agent = CommandAgent(request.agent_command or "")
    agent.check(Path(request.repo))
    return agent


def _scripted(request: BuildRequest) -> Agent:
    return ScriptedAgent(Path(request.agent_script or ""))


AGENTS: Mapping[str, Callable[[BuildRequest], Agent]] = {"command": _command, "scripted": _scripted}


def check_agent_name(name: str) -> None:
    if name in AGENTS:
        return
    near = difflib.get_close_matches(name, AGENTS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"there is no agent {name!r}; {hint}known agents: {', '.join(sorted(AGENTS))}")


def check_agents(request: BuildRequest) -> None:
    """Every agent of the ladder must be usable before the run starts, not when it is needed at night."""
    for choice in request.agents:
        agent_for(request.using(choice))


def agent_for(request: BuildRequest) -> Agent:
    """The adapter a request names, checked to be usable. The one place that maps names to programs."""
    check_agent_name(request.agent)
    return AGENTS[request.agent](request)
