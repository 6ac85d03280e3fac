"""What a user asks for: one validated value, the same from the terminal, a deployment form or CI."""

from __future__ import annotations

import re
import secrets
import shlex
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from platformdirs import user_state_path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from buildloop.diagnosis.model import FailureMode

RESTART_CAP = 5
RUN_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class DirtyPolicy(StrEnum):
    """What to do with uncommitted changes in the user's checkout. None of the choices touches them."""

    REFUSE = "refuse"
    INCLUDE = "include"
    IGNORE = "ignore"


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


Command = Annotated[str, AfterValidator(_not_blank)]


class BuildRequest(BaseModel):
    """One goal, one repository, one gate: what a run works on and where it stops."""

    # No infinite numbers: JSON has none, so such a request could not be read back for a resume.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    goal: Annotated[str, AfterValidator(_not_blank)] = Field(
        description="What the agent shall achieve. Kept word for word and shown to it in every prompt."
    )
    repo: str = Field(description="Path of the git repository (or a folder inside it) to work on.")
    test: tuple[Command, ...] = Field(
        min_length=1, description="Gate commands; all must exit 0. Each runs in a shell, in the workspace."
    )
    accept: Command | None = Field(
        None, description="Acceptance command: must exit 0 too before the run is complete."
    )
    junit: tuple[str, ...] = Field(
        (), description="Globs of JUnit XML files the gate leaves (relative to the repo); pytest needs none."
    )
    agent: str = Field("command", description="Which agent adapter to use: command or scripted.")
    agent_command: Annotated[str, AfterValidator(_splittable)] | None = Field(
        None, description="For agent 'command': the program and its arguments; the prompt comes on stdin."
    )
    agent_script: str | None = Field(None, description="For agent 'scripted': path of its rule file.")
    model: str | None = Field(None, description="Model name handed to the agent.")
    max_iterations: int = Field(20, ge=1, description="Most iterations over the whole run; N means N.")
    max_restarts: int = Field(3, ge=0, le=RESTART_CAP, description="Most restarts with a summary (0 to 5).")
    agent_timeout: float = Field(1800, gt=0, description="Seconds one agent call may take.")
    gate_timeout: float = Field(900, gt=0, description="Seconds each gate command may take.")
    retry_delay: float = Field(
        30, ge=0, description="First wait in seconds after a passing agent error; doubles each time."
    )
    context_window: int = Field(
        200_000, ge=0, description="Tokens the agent's context holds; 0 = not watched."
    )
    context_threshold: int = Field(
        70, ge=1, le=100, description="Percent of the context window at which a new session is started."
    )
    prompt_budget: int = Field(200_000, ge=1000, description="Most characters of one prompt.")
    failure_mode: FailureMode | None = Field(
        None, description="Force this diagnosis (for trying a strategy)."
    )
    integrity: IntegrityLevel = Field(
        IntegrityLevel.BLOCK, description="Weakened tests or an edited gate: block (red), warn, or off."
    )
    allow_test_changes: tuple[str, ...] = Field(
        (), description="Globs of tests and test configuration that the goal may change."
    )
    protect: tuple[str, ...] = Field(
        (), description="Globs of files that are put back to the start commit before each gate."
    )
    sandbox: SandboxKind = Field(
        SandboxKind.NONE, description="Where agents and gates run: none, bwrap (bubblewrap) or docker."
    )
    sandbox_image: str | None = Field(None, description="For sandbox docker: the image to run in.")
    sandbox_network: bool = Field(True, description="Whether the sandbox has a network.")
    sandbox_writable: tuple[str, ...] = Field(
        (), description="More folders the sandbox may write to, such as a package cache."
    )
    env_allow: tuple[str, ...] = Field(
        (), description="If given: globs of the only environment variables agents and gates get (besides basics)."
    )
    branch: str | None = Field(None, description="Branch for the result; default buildloop/<run id>.")
    dirty: DirtyPolicy = Field(
        DirtyPolicy.REFUSE, description="Uncommitted changes: refuse, include (a snapshot), or ignore them."
    )
    state_dir: str = Field(
        default_factory=lambda: str(user_state_path("buildloop")),
        description="Where runs are kept; shared storage if several machines work on them.",
    )
    run_id: str | None = Field(None, description="Continue this run, or name the new one.")

    @field_validator("test", "junit", "allow_test_changes", "protect", "sandbox_writable", "env_allow", mode="before")
    @classmethod
    def _one_command_is_enough(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("run_id")
    @classmethod
    def _safe_run_id(cls, value: str | None) -> str | None:
        if value is not None and not RUN_ID.fullmatch(value):
            raise ValueError("use lower-case letters, digits, '.', '_' and '-', 64 at most")
        return value

    @field_validator("allow_test_changes", "protect")
    @classmethod
    def _inside_the_repository(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            if not pattern.strip() or Path(pattern).is_absolute() or ".." in Path(pattern).parts:
                raise ValueError("give globs relative to the repository's root, such as 'tests/**'")
        return value

    @field_validator("junit")
    @classmethod
    def _inside_the_repo(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            if not pattern or Path(pattern).is_absolute() or ".." in Path(pattern).parts:
                raise ValueError("give globs relative to the repository, such as 'target/**/TEST-*.xml'")
        return value

    @field_validator("repo", "state_dir")
    @classmethod
    def _absolute(cls, value: str) -> str:
        return str(Path(value).expanduser().absolute())

    @model_validator(mode="after")
    def _agent_has_what_it_needs(self) -> BuildRequest:
        if self.agent == "command" and self.agent_command is None:
            raise ValueError("agent 'command' needs agent_command: the program to run, e.g. 'python fix.py'")
        if self.agent == "scripted" and self.agent_script is None:
            raise ValueError("agent 'scripted' needs agent_script: the path of its rule file")
        if self.sandbox is SandboxKind.DOCKER and self.sandbox_image is None:
            raise ValueError("sandbox 'docker' needs sandbox_image: an image with your toolchain and the agent")
        return self

    @property
    def run_dir(self) -> Path:
        if self.run_id is None:
            raise ValueError("this request has no run id yet")
        return Path(self.state_dir) / "runs" / self.run_id

    def named(self, run_id: str) -> BuildRequest:
        return self.model_copy(update={"run_id": run_id})


def new_run_id(now: datetime | None = None) -> str:
    """Sorts by time, is short enough to type, and two runs of one second still differ."""
    return f"{(now or datetime.now(UTC)):%m%d-%H%M%S}-{secrets.token_hex(2)}"
