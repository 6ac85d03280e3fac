"""One agent call, and the checkpoint of what it left."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prefect import task

from buildloop.agents.contract import AgentCall
from buildloop.agents.registry import agent_for
from buildloop.errors import AgentRefused, AgentUnavailable
from buildloop.files import write_atomic
from buildloop.models import AgentOutcome, AgentReply, AgentRun, WorkspaceInfo
from buildloop.prompt.sections import Prompt
from buildloop.request import AgentSession, BuildRequest
from buildloop.workspace.checkpoint import Step, make_checkpoint
from buildloop.workspace.link import git_folder
from buildloop.workspace.worktree import reopen
from tasks.options import DURABLE, attempt_number, attempts_left, next_delay, tell
from tasks.surroundings import Surroundings, surroundings


@dataclass(frozen=True, slots=True)
class IterateInput:
    """`base` is the commit the workspace stands at before the agent is called."""

    request: BuildRequest
    workspace: WorkspaceInfo
    session: int
    number: int
    base: str
    prompt: Prompt
    environment: Mapping[str, str]
    max_iterations: int
    last_passed: bool
    resume: str | None = None

    @property
    def label(self) -> str:
        return f"iterate s{self.session} i{self.number}"


@task(name="iterate", task_run_name="{given.label}", **DURABLE)
def iterate(key: str, given: IterateInput) -> AgentRun:
    """Finished calls are never paid twice: a reply that is on disk is taken from there."""
    here = surroundings(given.request, given.workspace, given.environment)
    folder = here.run.iteration_dir(given.session, given.number)
    reply = here.run.reply(folder)
    if reply is None:
        reopen(given.workspace, given.base)
        reply = _call(given, here, folder)
        write_atomic(folder / "reply.json", reply.model_dump_json(indent=2) + "\n")
    checkpoint = make_checkpoint(
        given.workspace,
        Step(str(given.request.run_id), given.session, given.number),
        given.base,
        here.run.exclude_file,
        f"buildloop: iteration {given.number}",
    )
    if reply.outcome is AgentOutcome.OK and not checkpoint.changed:
        reply = reply.model_copy(update={"outcome": AgentOutcome.NO_CHANGE})
    changed = f"{len(checkpoint.files)} files" if checkpoint.changed else "nothing changed"
    tell(
        f"{given.label}: {changed}" + ("" if reply.outcome == "ok" else f", {reply.outcome}"),
        "agent",
        reply.outcome,
    )
    return AgentRun(reply=reply, checkpoint=checkpoint)


def _call(given: IterateInput, here: Surroundings, folder: Path) -> AgentReply:
    write_atomic(folder / "prompt.md", here.redact(given.prompt.text))
    _announce(given, here)
    reply = agent_for(given.request).run(
        AgentCall(
            prompt=folder / "prompt.md",
            workdir=here.workdir,
            output_dir=folder,
            run_dir=here.run.path,
            environment=here.environment,
            timeout=given.request.agent_timeout,
            mark=here.mark,
            redact=here.redact,
            session=given.session,
            iteration=given.number,
            model=given.request.model,
            permissions=given.request.permissions,
            max_turns=given.request.max_turns,
            idle_timeout=given.request.agent_idle_timeout,
            resume=given.resume,
            keep_context=given.request.agent_session is AgentSession.CONTINUE,
            writable=(Path(given.workspace.root), git_folder(given.workspace)),
            extra_env=given.request.agent_env,
        )
    )
    if reply.outcome is AgentOutcome.REFUSED:
        raise AgentRefused(f"the agent refused to work: {reply.error or 'no reason given'}")
    if reply.outcome is AgentOutcome.TRANSIENT:
        until = f" (until {reply.reset_at:%Y-%m-%d %H:%M %Z})" if reply.reset_at else ""
        if attempts_left():
            _wait(given, here, reply)
        raise AgentUnavailable(f"the agent is unavailable for now{until}: {reply.error or 'no reason given'}")
    return reply


def _wait(given: IterateInput, here: Surroundings, reply: AgentReply) -> None:
    """Where the agent said when it is back, sit that out, as far as the time of this call goes; Prefect's own delay
    comes on top."""
    left = (reply.reset_at - datetime.now(UTC)).total_seconds() if reply.reset_at else 0.0
    pause = max(0.0, min(left, given.request.agent_timeout - reply.seconds))
    here.run.events.emit(
        "loop.agent_waiting",
        iteration=given.number,
        attempt=attempt_number(),
        seconds=round(pause + next_delay(), 1),
        error=reply.error,
    )
    time.sleep(pause)


def _announce(given: IterateInput, here: Surroundings) -> None:
    sent, budget = len(given.prompt.text), given.request.prompt_budget
    here.run.events.emit(
        "loop.iteration_start",
        iteration=given.number,
        max=given.max_iterations,
        session=given.session,
        agent=given.request.agent,
        test_passed=given.last_passed,
    )
    here.run.events.emit(
        "loop.context_efficiency",
        iteration=given.number,
        raw_prompt_chars=given.prompt.raw_chars,
        trimmed_prompt_chars=sent,
        trim_ratio=round(100 * (given.prompt.raw_chars - sent) / max(1, given.prompt.raw_chars), 1),
        budget_utilization=round(100 * sent / budget, 1),
        budget_chars=budget,
    )
    if given.prompt.cut:
        here.run.events.emit(
            "loop.context_trimmed",
            iteration=given.number,
            original=given.prompt.raw_chars,
            trimmed=sent,
            budget=budget,
            sections=list(given.prompt.cut),
        )
