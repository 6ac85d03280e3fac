"""How far a run trusts what happens in it: words of the request."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator


class IntegrityLevel(StrEnum):
    """What a weakened test, a narrowed configuration or an edited gate does to a green gate."""

    BLOCK = "block"
    WARN = "warn"
    OFF = "off"


class SandboxKind(StrEnum):
    """What agents and gates run in. Nothing is ever fallen back to silently."""

    NONE = "none"
    BWRAP = "bwrap"
    DOCKER = "docker"


def _inside_the_repository(pattern: str) -> str:
    path = PurePosixPath(pattern)
    if not pattern.strip() or path.is_absolute() or ".." in path.parts:
        raise ValueError("give globs relative to the repository's root, such as 'tests/**'")
    return pattern


RepositoryGlob = Annotated[str, AfterValidator(_inside_the_repository)]
