"""Where settings come from: flags > BUILDLOOP_* > buildloop.toml > defaults. A wrong key is an error."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_origin

from pydantic import ValidationError

from buildloop.decode import from_json, from_toml
from buildloop.errors import InputError
from buildloop.memory.location import VARIABLE as MEMORY_VARIABLE
from buildloop.memory.location import memory_location
from buildloop.request import BuildRequest
from buildloop.text import one_line
from buildloop.wording import in_words

CONFIG_FILE = "buildloop.toml"
PREFIX = "BUILDLOOP_"
PER_RUN = frozenset({"goal", "repo", "run_id", "issue"})
SETTINGS = tuple(name for name in BuildRequest.model_fields if name not in PER_RUN)
LISTS = frozenset(
    name for name in SETTINGS if get_origin(BuildRequest.model_fields[name].annotation) is tuple
)
VARIABLES = {PREFIX + name.upper(): name for name in SETTINGS}
# Where things are kept and where a worker's code comes from: settings of the machine, not of a run.
OF_THE_MACHINE = frozenset(
    {"BUILDLOOP_STORAGE", "BUILDLOOP_SOURCE", "BUILDLOOP_NOTIFY_URL", "BUILDLOOP_ZOMBIE_SECONDS"}
)
# Flags that are called something else in files, variables and forms: the setting and the value they stand for.
FLAGS_ONLY: Mapping[str, tuple[str, str]] = {
    "ask": ("human", "true"),
    "include_dirty": ("dirty", "include"),
    "from_head": ("dirty", "ignore"),
    "test_cmd": ("test", "COMMAND"),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where the user wrote it, so that an error can point there."""

    value: Any
    source: str


def gather_settings(
    flags: Mapping[str, Any], environment: Mapping[str, str], folder: Path
) -> dict[str, Setting]:
    """The settings in force; a later layer replaces an earlier one key by key."""
    layers = (_from_file(folder / CONFIG_FILE), _from_environment(environment), _from_flags(flags))
    return {name: setting for layer in layers for name, setting in layer.items()}


def make_request(settings: Mapping[str, Setting]) -> BuildRequest:
    try:
        return BuildRequest.model_validate({name: setting.value for name, setting in settings.items()})
    except ValidationError as error:
        raise InputError(_sentence(error, settings)) from None


def nearest(key: str, known: tuple[str, ...]) -> str:
    """What somebody may have meant by `key`. What all names begin with makes none of them alike."""
    bare = {name.removeprefix(PREFIX).lower(): name for name in known}
    typed = key.removeprefix(PREFIX).lower().replace("-", "_")
    if typed in bare:
        return f"did you mean {bare[typed]!r}?"
    if typed in FLAGS_ONLY and (name := FLAGS_ONLY[typed][0]) in bare:
        here = f"called {bare[name]!r} here, with the value {FLAGS_ONLY[typed][1]}"
        return f"{flag_of(typed)} of the command line is {here}"
    near = difflib.get_close_matches(typed, bare, n=1, cutoff=0.7)
    return f"did you mean {bare[near[0]]!r}?" if near else f"known keys: {', '.join(known)}"


def flag_of(name: str) -> str:
    return "the goal" if name == "goal" else "--" + name.replace("_", "-")


def _from_flags(flags: Mapping[str, Any]) -> dict[str, Setting]:
    given = {name: value for name, value in flags.items() if value is not None}
    return {name: Setting(value, flag_of(name)) for name, value in given.items()}


def _from_environment(environment: Mapping[str, str]) -> dict[str, Setting]:
    found = {}
    for variable, value in environment.items():
        if not variable.startswith(PREFIX) or variable in OF_THE_MACHINE:
            continue
        if variable == MEMORY_VARIABLE:  # may hold a password: read where it is used, never kept in a request
            memory_location(environment)
            continue
        if variable not in VARIABLES:
            raise InputError(f"there is no setting {variable}; {nearest(variable, tuple(VARIABLES))}")
        if value != "":
            name = VARIABLES[variable]
            found[name] = Setting(_items(value) if name in LISTS else value, variable)
    return found


def _items(value: str) -> object:
    """Several as a JSON list. Whatever else begins with a bracket is one text: a glob, a shell's test."""
    try:
        given = from_json(value) if value.lstrip().startswith("[") else value
    except ValueError:
        return value
    return given


def _from_file(path: Path) -> dict[str, Setting]:
    try:
        content = from_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, but settings are a file; rename or remove it") from None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}; mend its permissions or remove it"
        ) from None
    except ValueError as error:
        raise InputError(f"{path} is not valid TOML: {one_line(str(error))}") from None
    for key in content:
        if key not in SETTINGS:
            raise InputError(f"{path} has the unknown key {key!r}; {nearest(key, SETTINGS)}")
    return {key: Setting(value, f"{key} in {path}") for key, value in content.items()}


def _sentence(error: ValidationError, settings: Mapping[str, Setting]) -> str:
    """The first problem in one sentence that names the place to mend."""
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    if not name:
        return first["msg"].removeprefix("Value error, ")
    if first["type"] == "missing":
        return f"{flag_of(name)} is missing"
    return in_words(first, settings[name].source if name in settings else flag_of(name))
