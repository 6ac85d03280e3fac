"""How commands show their usage, and what is said when somebody typed one that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click import Context, Parameter

# The words of the library that checks what was typed.
WORDS = {
    "Input should be less than or equal to": "must be at most",
    "Input should be greater than or equal to": "must be at least",
    "Input should be a valid integer, unable to parse string as an integer": "must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "must be a number",
}


class Command(TyperCommand):
    """A flag has no value, so its help names no type."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        return _flags_without_type(super().get_params(ctx))


class Group(TyperGroup):
    def get_params(self, ctx: Context) -> list[Parameter]:
        return _flags_without_type(super().get_params(ctx))


def show_help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def in_a_sentence(error: Any) -> str:  # noqa: ANN401 (Typer's usage errors have no public type)
    """What is wrong with the command line, and whose help to read."""
    command = error.ctx.command_path if getattr(error, "ctx", None) else "buildloop"
    return f"{_problem(error)} (see '{command} --help')"


def _problem(error: Any) -> str:  # noqa: ANN401
    typed = getattr(error, "option_name", None)
    known = getattr(error, "possibilities", None)
    if typed is None or known is None:
        said = str(error.format_message()).strip().rstrip(".")
        return next((said.replace(theirs, ours) for theirs, ours in WORDS.items() if theirs in said), said)
    near = _alike(typed, known)
    return f"there is no option {typed}" + (f"; did you mean {near}?" if near else "")


def _alike(typed: str, known: Sequence[str]) -> str | None:
    """Compared without the dashes: they make any two options alike."""
    bare = {name.lstrip("-"): name for name in known}
    near = difflib.get_close_matches(typed.lstrip("-"), bare, n=1)
    return bare[near[0]] if near else None


def _flags_without_type(params: list[Parameter]) -> list[Parameter]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params
