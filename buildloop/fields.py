"""Kinds of text that a request takes, each with the sentence for a value that does not fit."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePath
from typing import Annotated, Any

from pydantic import AfterValidator

from buildloop.home import from_home

ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SPELLINGS = {"usd": "USD", "junit": "JUnit", "env": "environment", "github": "GitHub", "dir": "directory"}
OWNER_AND_NAME = re.compile(r"(?!-)[A-Za-z0-9_.-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}")
# Half of the default prompt: the goal stands in every one, word for word. An issue's whole text fits.
LONGEST_GOAL = 100_000


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _splittable(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {error}") from None
    if not words:
        raise ValueError("must not be empty")
    return command


def _variable_name(name: str) -> str:
    if not ENVIRONMENT_NAME.fullmatch(name):
        raise ValueError("give the name of an environment variable, such as DATABASE_URL, not a value")
    return name


def as_a_form(schema: dict[str, Any]) -> None:
    """What a person sees of a request in the Prefect UI.

    PostgreSQL forgets the order of keys, so forms go by position. A field that may be left out is one field: offered
    as "text or nothing" it would be a switch between the two. Prefect takes null for it all the same.
    """
    for position, (name, field) in enumerate(schema.get("properties", {}).items()):
        field["position"] = position
        field["title"] = _title(name)
        kinds = [kind for kind in field.get("anyOf", ()) if kind.get("type") != "null"]
        if len(kinds) == 1 and "type" in kinds[0]:
            del field["anyOf"]
            field.pop("default", None)
            field.update(kinds[0])


def _title(name: str) -> str:
    text = " ".join(SPELLINGS.get(word, word) for word in name.split("_"))
    return text[0].upper() + text[1:]


def _owner_and_name(text: str) -> str:
    if not OWNER_AND_NAME.fullmatch(text):
        raise ValueError("give it as OWNER/NAME, such as octocat/hello-world")
    return text


def _test_glob(pattern: str) -> str:
    if not pattern.strip() or _leaves(pattern):
        raise ValueError("give globs relative to the repository's root, such as 'tests/**'")
    return pattern


def _report_glob(pattern: str) -> str:
    if not pattern or _leaves(pattern):
        raise ValueError("give globs relative to the repository, such as 'target/**/TEST-*.xml'")
    return pattern


def _goal(text: str) -> str:
    if len(text) > LONGEST_GOAL:
        raise ValueError(
            f"must have at most {LONGEST_GOAL} characters, because every prompt repeats it; background belongs into "
            "--context"
        )
    return text


def _whole_path(path: str) -> str:
    whole = from_home(path)
    if not whole.is_absolute():
        raise ValueError("give the whole path of the folder, such as ~/.cache/pip")
    return str(whole)


def without_nul(value: object) -> object:
    """No program takes a NUL among its arguments, no database in a text."""
    texts = value if isinstance(value, (list, tuple)) else (value,)
    if any(isinstance(text, str) and "\0" in text for text in texts):
        raise ValueError("holds a NUL character; take it out")
    return value


def _leaves(pattern: str) -> bool:
    return PurePath(pattern).is_absolute() or ".." in PurePath(pattern).parts


Goal = Annotated[str, AfterValidator(_goal)]
NotBlank = Annotated[str, AfterValidator(_not_blank)]
Splittable = Annotated[str, AfterValidator(_splittable)]
EnvironmentName = Annotated[str, AfterValidator(_variable_name)]
OwnerAndName = Annotated[str, AfterValidator(_owner_and_name)]
TestGlob = Annotated[str, AfterValidator(_test_glob)]
WholePath = Annotated[str, AfterValidator(_whole_path)]
ReportGlob = Annotated[str, AfterValidator(_report_glob)]
