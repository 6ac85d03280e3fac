"""What a user asks for: one validated value, the same from the terminal, a deployment form or CI."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from buildloop.agents.choice import AgentChoice, agent_ladder, check_falsifier, check_ladder
from buildloop.choices import AgentSession, DirtyPolicy, IntegrityLevel, SandboxKind
from buildloop.diagnosis.model import FailureMode
from buildloop.fields import (
    EnvironmentName,
    Goal,
    NotBlank,
    OwnerAndName,
    ReportGlob,
    Splittable,
    TestGlob,
    WholePath,
    as_a_form,
    without_nul,
)
from buildloop.home import from_home
from buildloop.models import Permissions
from buildloop.run_name import RunName, new_run_id
from buildloop.storage import default_state_dir

__all__ = ["AgentSession", "BuildRequest", "DirtyPolicy", "IntegrityLevel", "SandboxKind", "new_run_id"]

RESTART_CAP = 5
EXTENSIONS_CAP = 3


class BuildRequest(BaseModel):
    """One goal, one repository, one gate: what a run works on and where it stops."""

    # No infinite numbers: JSON has none, so such a request could not be read back for a resume.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, json_schema_extra=as_a_form)

    goal: Goal = Field(
        "",
        description="What the agent shall achieve. Kept word for word and shown to it in every prompt. "
        "May be left out where an issue is given: then it is the issue's title and text.",
    )
    repo: str = Field(description="Path of the git repository (or a folder inside it) to work on.")
    test: tuple[NotBlank, ...] = Field(
        min_length=1, description="Gate commands; all must exit 0. Each runs in a shell, in the workspace."
    )
    accept: NotBlank | None = Field(
        None, description="Acceptance command: must exit 0 too before the run is complete."
    )
    junit: tuple[ReportGlob, ...] = Field(
        (), description="Globs of JUnit XML files the gate leaves (relative to the repo); pytest needs none."
    )
    agent: NotBlank = Field(
        "command",
        description="Which agent: claude, codex, gemini, opencode, aider, command or scripted. Several, separated by "
        "commas, are used in that order when one is stuck or does not answer; NAME:MODEL names its model, e.g. "
        "claude:sonnet,claude:opus,codex.",
    )
    agent_command: Splittable | None = Field(
        None, description="For agent 'command': the program and its arguments; the prompt comes on stdin."
    )
    agent_script: str | None = Field(None, description="For agent 'scripted': path of its rule file.")
    model: str | None = Field(
        None,
        description="Model name handed to the (first) agent; several, separated by commas, go from cheap to strong.",
    )
    permissions: Permissions = Field(
        Permissions.ASK_NOTHING,
        description="What the agent may do: ask-nothing (edit and run commands, writing only in the workspace), "
        "edit-only (no commands), full (whatever you may).",
    )
    max_turns: int | None = Field(
        None, ge=1, description="Most model requests in one agent call, where the agent has such a limit."
    )
    agent_session: AgentSession = Field(
        AgentSession.CONTINUE,
        description="continue: iterations of a session share one agent context; fresh: each starts anew.",
    )
    agent_env: tuple[EnvironmentName, ...] = Field(
        (), description="Names of further environment variables that the agent gets."
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
    agent_idle_timeout: float = Field(
        900, gt=0, description="Seconds without a byte of output after which an agent CLI counts as hung."
    )
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
    context_window: int | None = Field(
        None,
        ge=0,
        description="Tokens the agent's context holds; 0 = not watched. Left out: what the agent reports, else 200000.",
    )
    context_threshold: int = Field(
        70, ge=1, le=100, description="Percent of the context window at which a new session is started."
    )
    prompt_budget: int = Field(200_000, ge=1000, description="Most characters of one prompt.")
    failure_mode: FailureMode | None = Field(
        None, description="Force this diagnosis (for trying a strategy)."
    )
    shared_memory: bool = Field(
        False, description="Use what runs on other repositories learned, not only this one's."
    )
    integrity: IntegrityLevel = Field(
        IntegrityLevel.BLOCK, description="Weakened tests or an edited gate: block (red), warn, or off."
    )
    counter_proof: bool = Field(
        True,
        description="Run a green gate again: with the tests of the start, and with other values than theirs.",
    )
    falsify: NotBlank | None = Field(
        None,
        description="A second agent (as in 'agent', one only): it gets one try to write a test for the goal that fails "
        "on the finished work; while such a test fails, the run is not complete.",
    )
    falsify_command: Splittable | None = Field(
        None, description="For falsify 'command': the program and its arguments; the prompt comes on stdin."
    )
    allow_test_changes: tuple[TestGlob, ...] = Field(
        (), description="Globs of tests and test configuration that the goal may change."
    )
    protect: tuple[TestGlob, ...] = Field(
        (), description="Globs of files that are put back to the start commit before each gate."
    )
    sandbox: SandboxKind = Field(
        SandboxKind.NONE, description="Where agents and gates run: none, bwrap (bubblewrap) or docker."
    )
    sandbox_image: str | None = Field(None, description="For sandbox docker: the image to run in.")
    sandbox_network: bool = Field(True, description="Whether the sandbox has a network.")
    sandbox_writable: tuple[WholePath, ...] = Field(
        (), description="More folders the sandbox may write to, such as a package cache."
    )
    env_allow: tuple[str, ...] = Field(
        (),
        description="If given: globs of the only environment variables agents and gates get (besides basics).",
    )
    branch: str | None = Field(None, description="Branch for the result; default: buildloop/ and the run id.")
    dirty: DirtyPolicy = Field(
        DirtyPolicy.REFUSE, description="Uncommitted changes: refuse, include (a snapshot), or ignore them."
    )
    state_dir: str = Field(
        default_factory=default_state_dir,
        description="Where runs are kept; shared storage if several machines work on them.",
    )
    run_id: RunName | None = Field(None, description="Continue this run, or name the new one.")
    human: bool = Field(False, description="Ask a person, and wait, when the run would end without success.")
    context: str = Field(
        "", description="Background for the agent beside the goal. It is shown as data, not as an order."
    )
    issue: int | None = Field(
        None,
        ge=1,
        description="Number of the GitHub issue this run is for: gives goal and context, gets the pull request.",
    )
    github_repo: OwnerAndName | None = Field(
        None, description="GitHub repository as OWNER/NAME; default: that of the git remote."
    )
    dry_run: bool = Field(
        False, description="Send nothing to GitHub; write down what would have been sent (needs issue)."
    )

    @field_validator(
        "test",
        "junit",
        "agent_env",
        "allow_test_changes",
        "protect",
        "sandbox_writable",
        "env_allow",
        mode="before",
    )
    @classmethod
    def _one_command_is_enough(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("*", mode="before")
    @classmethod
    def _passable(cls, value: object) -> object:
        return without_nul(value)

    @field_validator("repo", "state_dir")
    @classmethod
    def _absolute(cls, value: str) -> str:
        return str(from_home(value).absolute())

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
        check_ladder(self.agents, self.agent_command, self.agent_script)
        if self.falsify_command is not None and self.falsifier != AgentChoice(agent="command"):
            raise ValueError("--falsify-command is for --falsify command; leave one of the two out")
        if self.falsifier is not None:
            check_falsifier(self.falsify, self.falsify_command)
        if self.sandbox is SandboxKind.DOCKER and self.sandbox_image is None:
            raise ValueError(
                "sandbox 'docker' needs an image with your toolchain and the agent; give it with --sandbox-image "
                "(sandbox_image)"
            )
        return self

    @property
    def agents(self) -> tuple[AgentChoice, ...]:
        """The ladder of agents, at least one."""
        return agent_ladder(self.agent, self.model)

    @property
    def falsifier(self) -> AgentChoice | None:
        """The second agent, if one was asked for."""
        named = self.falsify or ("command" if self.falsify_command else "")
        return next(iter(agent_ladder(named, None)), None)

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
