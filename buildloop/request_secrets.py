"""Secrets that a user typed: kept out of the request before it is stored anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from buildloop.errors import InputError
from buildloop.redact import redactor, secret_values
from buildloop.request import BuildRequest


def without_secrets(request: BuildRequest, environment: Mapping[str, str]) -> BuildRequest:
    """Goal and context masked: both go to a model and into files. A command cannot be masked, so it is refused."""
    for what, command in _commands(request):
        for name, values in secret_values(environment).items():
            if any(value in command for value in values):
                raise InputError(
                    f"{what} holds the value of {name}; write ${name} instead, the shell puts it in when it runs"
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
