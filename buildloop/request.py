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
EXTENSIONS_CAP = 3
RUN_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
OWNER_AND_NAME = re.compile(r"(?!-)[A-Za-z0-9_.-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}")


class DirtyPolicy(StrEnum):
    """What to do with uncommitted changes in the user's checkout. None of the choices touches them."""

    REFUSE = "refuse"
    INCLUDE = "include"
    IGNORE = "ignore"


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


def _owner_and_name(text: str) -> str:
    if not OWNER_AND_NAME.fullmatch(text):
        raise ValueError("give it as OWNER/NAME, such as octocat/hello-world")
    return text


Command = Annotated[str, AfterValidator(_not_blank)]


class AgentChoice(BaseModel):
    """One rung of the ladder of agents: which program, with which model (None: the program's own default)."""

    model_config = ConfigDict(frozen=True)

    agent: str
    model: str | None = None

    def __str__(self) -> str:
        return f"{self.agent}:{self.model}" if self.model else self.agent


class BuildRequest(BaseModel):
    """One goal, one repository, one gate: what a run works on and where it stops."""

    # No infinite numbers: JSON has none, so such a request could not be read back for a resume.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    goal: str = Field(
        "",
        description="What the agent shall achieve. Kept word for word and shown to it in every prompt. "
        "May be left out where an issue is given: then it is the issue's title and text.",
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
    agent: Annotated[str, AfterValidator(_not_blank)] = Field(
        "command",
        description="Which agent to use; several, separated by commas, are tried in that order when one is stuck "
        "or does not answer. NAME:MODEL names its model, e.g. claude:sonnet,claude:opus,codex.",
    )
    agent_command: Annotated[str, AfterValidator(_splittable)] | None = Field(
        None, description="For agent 'command': the program and its arguments; the prompt comes on stdin."
    )
    agent_script: str | None = Field(None, description="For agent 'scripted': path of its rule file.")
    model: str | None = Field(
        None,
        description="Model name handed to the (first) agent; several, separated by commas, go from cheap to strong.",
    )
    max_iterations: int = Field(20, ge=1, description="Most iterations over the whole run.")
    extension_size: int = Field(
        5,
        ge=0,
        description="Iterations added at the limit while the failing set still shrinks, at most "
        f"{EXTENSIONS_CAP} times; 0 = never.",
    )
    max_restarts: int = Field(3, ge=0, le=RESTART_CAP, description="Most restarts with a summary (0 to 5).")
    agent_timeout: float = Field(1800, gt=0, description="Seconds one agent call may take.")
    gate_timeout: float = Field(900, gt=0, description="Seconds each gate command may take.")
    retry_delay: float = Field(
        30, ge=0, description="First wait in seconds after a passing agent error; doubles each time."
    )
    max_wait: float = Field(
        21_600, ge=0, description="Longest wait in seconds for an agent that says when it will answer again."
    )
    budget_usd: float | None = Field(None, gt=0, description="Most dollars the agent calls may cost.")
    budget_tokens: int | None = Field(None, gt=0, description="Most tokens of all kinds the calls may use.")
    budget_minutes: float | None = Field(None, gt=0, description="Most minutes the run may work.")
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
    branch: str | None = Field(None, description="Branch for the result; default buildloop/<run id>.")
    dirty: DirtyPolicy = Field(
        DirtyPolicy.REFUSE, description="Uncommitted changes: refuse, include (a snapshot), or ignore them."
    )
    state_dir: str = Field(
        default_factory=lambda: str(user_state_path("buildloop")),
        description="Where runs are kept; shared storage if several machines work on them.",
    )
    run_id: str | None = Field(None, description="Continue this run, or name the new one.")
    context: str = Field(
        "", description="Background for the agent beside the goal. It is shown as data, not as an order."
    )
    issue: int | None = Field(
        None,
        ge=1,
        description="Number of the GitHub issue this run is for: gives goal and context, gets the pull request.",
    )
    github_repo: Annotated[str, AfterValidator(_owner_and_name)] | None = Field(
        None, description="GitHub repository as OWNER/NAME; default: that of the git remote."
    )
    dry_run: bool = Field(
        False, description="Send nothing to GitHub; write down what would have been sent (needs issue)."
    )

    @field_validator("test", "junit", mode="before")
    @classmethod
    def _one_command_is_enough(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("run_id")
    @classmethod
    def _safe_run_id(cls, value: str | None) -> str | None:
        if value is not None and not RUN_ID.fullmatch(value):
            raise ValueError("use lower-case letters, digits, '.', '_' and '-', 64 at most")
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
    def _has_a_goal(self) -> BuildRequest:
        if not self.goal.strip() and self.issue is None:
            raise ValueError(
                "the goal must not be empty; say what to achieve, or name an issue with --issue N"
            )
        if self.dry_run and self.issue is None:
            raise ValueError("--dry-run shows what would be sent to GitHub, so it needs --issue N")
        return self

    @model_validator(mode="after")
    def _agent_has_what_it_needs(self) -> BuildRequest:
        names = {choice.agent for choice in self.agents}
        if "command" in names and self.agent_command is None:
            raise ValueError("agent 'command' needs agent_command: the program to run, e.g. 'python fix.py'")
        if "scripted" in names and self.agent_script is None:
            raise ValueError("agent 'scripted' needs agent_script: the path of its rule file")
        return self

    @property
    def agents(self) -> tuple[AgentChoice, ...]:
        """The ladder of agents, at least one. Models given by `model` belong to the first that names none."""
        models = [name.strip() for name in (self.model or "").split(",") if name.strip()]
        choices: list[AgentChoice] = []
        for word in filter(None, (part.strip() for part in self.agent.split(","))):
            name, _, model = word.partition(":")
            own: list[str | None] = [model] if model else [*models] or [None]
            choices += [AgentChoice(agent=name, model=one) for one in own]
            models = models if model else []
        return tuple(choices)

    def using(self, choice: AgentChoice) -> BuildRequest:
        """This request with one agent of its ladder."""
        return self.model_copy(update={"agent": choice.agent, "model": choice.model})

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
