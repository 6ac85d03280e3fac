"""Secrets that a user typed: kept out of the request before it is stored anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from buildloop.errors import InputError
from buildloop.redact import redactor, secret_values
from buildloop.request import BuildRequest


def without_secrets(request: BuildRequest, environment: Mapping[str, str]) -> BuildRequest:
    """Goal and context masked: both go to a model and into files. A command cannot be masked, so it is refused."""
    shapes = redactor({})
    for what, command in _commands(request):
        for name, values in secret_values(environment).items():
            if any(value in command for value in values):
                raise InputError(
                    f"{what} holds the value of {name}; write ${name} instead, the shell puts it in when it runs"
                )
        if shapes(command) != command:
            raise InputError(
                f"{what} holds a token or a password; put it in a variable, say MY_TOKEN, and write $MY_TOKEN instead: "
                "commands are written down, and a masked one would not run again"
            )
    mask = redactor(environment)
    return request.model_copy(update={"goal": mask(request.goal), "context": mask(request.context)})


def _commands(request: BuildRequest) -> Iterator[tuple[str, str]]:
    for command in request.test:
        yield "the gate command", command
    if request.accept:
        yield "the acceptance command", request.accept
    if request.agent_command:
        yield "the agent command", request.agent_command
    if request.falsify_command:
        yield "the command of --falsify", request.falsify_command
