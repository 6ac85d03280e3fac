"""Writes docs/settings.md: every setting, from the model and the command line that define them.

python scripts/settings_page.py
"""

from __future__ import annotations

import sys
import types
from enum import EnumType
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import annotated_types
import typer
from pydantic.fields import FieldInfo

from buildloop.cli.app import app
from buildloop.config import FLAGS_ONLY, PER_RUN, PREFIX
from buildloop.request import BuildRequest

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
INTRODUCTION = Path(__file__).with_name("settings_introduction.md")
DEFAULTS = {"state_dir": "`~/.local/state/buildloop`", "agent": "what was given for it", "test": "detected"}
REST = "Where, what and how it ends"


def page() -> str:
    """The introduction, then one table a panel of `buildloop run --help`."""
    panels: dict[str, list[str]] = {}
    flags = _flags()
    for name, field in BuildRequest.model_fields.items():
        panel = next((panel for _, panel in flags.get(name, []) if panel), REST)
        panels.setdefault(panel, []).append(_row(name, field, [flag for flag, _ in flags.get(name, [])]))
    head = "| key, flag, variable | type | default | what it does |\n|---|---|---|---|\n"
    tables = [
        f"### {panel}\n{head}" + "\n".join(rows) for panel, rows in sorted(panels.items(), key=_rest_first)
    ]
    return INTRODUCTION.read_text(encoding="utf-8").rstrip() + "\n\n" + "\n\n".join(tables) + "\n"


def _rest_first(panel: tuple[str, list[str]]) -> bool:
    return panel[0] != REST


def _flags() -> dict[str, list[tuple[str, str | None]]]:
    """The flags of `buildloop run` by the setting they give."""
    command: Any = typer.main.get_command(app)
    found: dict[str, list[tuple[str, str | None]]] = {}
    for param in command.commands["run"].params:
        setting = FLAGS_ONLY[param.name][0] if param.name in FLAGS_ONLY else param.name
        text = "GOAL" if param.name == "goal" else " ".join((*param.opts, *param.secondary_opts))
        found.setdefault(setting, []).append((text, getattr(param, "rich_help_panel", None)))
    return found


def _row(name: str, field: FieldInfo, flags: list[str]) -> str:
    names = [name, *(one for flag in flags for one in flag.split())]
    names += [] if name in PER_RUN else [PREFIX + name.upper()]
    kind, limits = _kind(field.annotation), _limits(field)
    cells = (
        "<br>".join(f"`{one}`" for one in names),
        kind + limits,
        _default(name, field),
        field.description or "",
    )
    return "| " + " | ".join(cells) + " |"


def _kind(annotation: Any) -> str:  # noqa: ANN401 (annotations have no common type)
    if get_origin(annotation) in (Union, types.UnionType):
        return _kind(next(one for one in get_args(annotation) if one is not type(None)))
    if get_origin(annotation) is tuple:
        return "list"
    if isinstance(annotation, EnumType):
        return ", ".join(f"`{one.value}`" for one in annotation)
    return {int: "whole number", float: "number", bool: "true or false"}.get(annotation, "text")


def _limits(field: FieldInfo) -> str:
    words = {
        annotated_types.Ge: ("from", "ge"),
        annotated_types.Gt: ("more than", "gt"),
        annotated_types.Le: ("to", "le"),
    }
    said = [
        f"{words[type(one)][0]} {getattr(one, words[type(one)][1])}"
        for one in field.metadata
        if type(one) in words
    ]
    return f" {' '.join(said)}" if said else ""


def _default(name: str, field: FieldInfo) -> str:
    if name in DEFAULTS:
        return DEFAULTS[name]
    if field.is_required():
        return "the folder you are in" if name == "repo" else "required"
    value = field.default
    if value in (None, "", ()):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE}\n")
