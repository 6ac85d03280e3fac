"""Keeps secrets out of what exceptions say: Prefect shows it as the state of a task or flow run, and stores it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from buildloop.redact import mask_own

P = ParamSpec("P")
R = TypeVar("R")


def masked_errors(function: Callable[P, R]) -> Callable[P, R]:
    """The task with every exception masked that leaves it."""

    @functools.wraps(function)
    def run(*values: P.args, **named: P.kwargs) -> R:
        try:
            return function(*values, **named)
        except Exception as error:
            raise masked_error(error) from error.__cause__

    return run


def masked_error(error: Exception) -> Exception:
    """The same exception with other words. One whose words cannot be changed becomes a plain one."""
    if mask_own(str(error)) == str(error):
        return error
    error.args = tuple(_masked(one) for one in error.args)
    for name, value in vars(error).items():
        setattr(error, name, _masked(value))
    if isinstance(error, OSError):
        error.strerror, error.filename = mask_own(error.strerror or ""), _masked(error.filename)
    words = mask_own(str(error))
    return error if words == str(error) else RuntimeError(f"{type(error).__name__}: {words}")


def _masked(value: object) -> object:
    if isinstance(value, str):
        return mask_own(value)
    if isinstance(value, bytes):
        return mask_own(value.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    if isinstance(value, list | tuple):
        return type(value)(map(_masked, value))
    return value
