"""Kinds of text that a request takes, each with the sentence for a value that does not fit."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePath
from typing import Annotated, Any

from pydantic import AfterValidator

ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OWNER_AND_NAME = re.compile(r"(?!-)[A-Za-z0-9_.-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}")


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


def in_this_order(schema: dict[str, Any]) -> None:
    """PostgreSQL forgets the order of keys; forms made from the schema go by position."""
    for position, field in enumerate(schema.get("properties", {}).values()):
        field["position"] = position


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


def _leaves(pattern: str) -> bool:
    return PurePath(pattern).is_absolute() or ".." in PurePath(pattern).parts


NotBlank = Annotated[str, AfterValidator(_not_blank)]
Splittable = Annotated[str, AfterValidator(_splittable)]
EnvironmentName = Annotated[str, AfterValidator(_variable_name)]
OwnerAndName = Annotated[str, AfterValidator(_owner_and_name)]
TestGlob = Annotated[str, AfterValidator(_test_glob)]
ReportGlob = Annotated[str, AfterValidator(_report_glob)]
