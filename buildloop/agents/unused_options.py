"""Options the chosen agents have no use for: refused where a promise would be broken, told of where it is harmless."""

from __future__ import annotations

from buildloop.agents.catalogue import CATALOGUE
from buildloop.errors import InputError
from buildloop.models import Permissions
from buildloop.request import BuildRequest


def refuse_broken_promises(request: BuildRequest) -> None:
    """What the user would rely on, and what would not be so."""
    named = [choice for choice in request.agents if choice.agent in CATALOGUE]
    if request.model and not any(_takes(request.model, choice.model) for choice in request.agents):
        raise InputError(
            f"--model {request.model} would not be used, because --agent {request.agent} names the models itself; "
            "leave one of them out"
        )
    if request.permissions is Permissions.EDIT_ONLY and len(named) < len(request.agents):
        other = next(choice.agent for choice in request.agents if choice.agent not in CATALOGUE)
        raise InputError(
            f"--permissions edit-only cannot be kept by agent {other!r}: it runs as you and does what it likes; "
            "leave the option out, choose an agent CLI (see 'buildloop agents'), or hold it with --sandbox bwrap"
        )


def unused_options(request: BuildRequest) -> tuple[str, ...]:
    """One sentence for every option that does nothing in this run."""
    names = dict.fromkeys(choice.agent for choice in request.agents)
    programs = [CATALOGUE[name] for name in names if name in CATALOGUE]
    chosen = ", ".join(names)
    notes = []
    if request.max_turns is not None and not any(cli.limits_turns for cli in programs):
        notes.append(f"--max-turns does nothing: {chosen} has no such limit")
    if request.agent_env and not programs:
        notes.append(f"--agent-env does nothing: {chosen} gets the environment that the gate gets")
    if request.model and not programs and "scripted" not in names:
        notes.append(f"--model does nothing: {chosen} is not told of one")
    if request.agent_command is not None and "command" not in names:
        notes.append(f"--agent-command does nothing: the agent is {chosen}")
    if request.agent_script is not None and "scripted" not in names:
        notes.append(f"--agent-script does nothing: the agent is {chosen}")
    return tuple(notes)


def _takes(models: str, model: str | None) -> bool:
    return model is not None and model in {name.strip() for name in models.split(",")}
