"""Options of a request that are one of a few words."""

from __future__ import annotations

from enum import StrEnum


class DirtyPolicy(StrEnum):
    """What to do with uncommitted changes in the user's checkout. None of the choices touches them."""

    REFUSE = "refuse"
    INCLUDE = "include"
    IGNORE = "ignore"


class AgentSession(StrEnum):
    """Whether the iterations of one session share one agent context, or each starts with an empty one."""

    CONTINUE = "continue"
    FRESH = "fresh"


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
