"""One agent call, and the checkpoint of what it left."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from prefect import task

from buildloop.agents.choice import AgentChoice
from buildloop.agents.contract import AgentCall
from buildloop.agents.registry import agent_for
from buildloop.budget import budget_refusal, dollars_left, time_limit
from buildloop.errors import AgentLimited, AgentRefused, AgentUnavailable, BudgetExceeded
from buildloop.files import write_atomic
from buildloop.ledger import UNPAID, call_of
from buildloop.models import AgentOutcome, AgentReply, AgentRun, Checkpoint, WorkspaceInfo
from buildloop.prompt.sections import Prompt, over_budget
from buildloop.request import AgentSession, BuildRequest
from buildloop.rundir import RunDir
from buildloop.stopwatch import hold_stopwatch, release_stopwatch, save_stopwatch, worked_seconds
from buildloop.workspace.checkpoint import Rules, Step, make_checkpoint
from buildloop.workspace.link import commit_folders
from buildloop.workspace.settled import arrive, leave
from buildloop.workspace.unfinished import take_up_unfinished
from tasks.bucket import keep
from tasks.masked_errors import masked_errors
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
    rung: int
    resume: str | None = None
    heard: tuple[str, ...] = ()

    @property
    def choice(self) -> AgentChoice:
        return self.request.agents[self.rung]

    @property
    def label(self) -> str:
        return f"iterate s{self.session} i{self.number}"


@task(name="iterate", task_run_name="{given.label}", **DURABLE)
@masked_errors
def iterate(key: str, given: IterateInput) -> AgentRun:
    """Finished calls are never paid twice: a reply that is on disk is taken from there."""
    release_stopwatch(given.request.run_dir)
    here = surroundings(given.request, given.workspace, given.environment)
    folder = here.run.iteration_dir(given.session, given.number)
    step = Step(str(given.request.run_id), given.session, given.number)
    reply = here.run.reply(folder)
    if reply is None:
        arrive(given.workspace, given.base, here.mark)
        here.run.ledger.close_interrupted(given.session, given.number, str(given.choice))
        _keep_budget(given)
        reply = _call(given, here, folder)
        write_atomic(folder / "reply.json", reply.model_dump_json(indent=2) + "\n")
    else:
        take_up_unfinished(given.workspace, step, given.base)
    if not here.run.ledger.has_answer(given.session, given.number):
        here.run.ledger.add(call_of(given.session, given.number, reply, datetime.now(UTC)))
    checkpoint = make_checkpoint(
        given.workspace,
        step,
        given.base,
        here.run.exclude_file,
        f"buildloop: iteration {given.number}",
        Rules(given.request.protect, os.environ, here.redact),
    )
    if not checkpoint.refused and not checkpoint.unkept:
        leave(given.workspace, checkpoint.commit, here.mark, clean=False)
    keep(given.request, given.workspace)
    _announce_kept_out(given, here, checkpoint)
    if reply.outcome is AgentOutcome.OK and not checkpoint.changed:
        reply = reply.model_copy(update={"outcome": AgentOutcome.NO_CHANGE})
    changed = f"{len(checkpoint.files)} files" if checkpoint.changed else "nothing changed"
    tell(
        f"{given.label}: {changed}" + ("" if reply.outcome == "ok" else f", {reply.outcome}"),
        "agent",
        reply.outcome,
    )
    return AgentRun(reply=reply, checkpoint=checkpoint, heard=given.heard)


def _announce_kept_out(given: IterateInput, here: Surroundings, point: Checkpoint) -> None:
    for secret in point.refused:
        here.run.events.emit(
            "loop.secret_refused",
            iteration=given.number,
            file=secret.file,
            kind=secret.kind,
            line=secret.line,
        )
    if point.restored:
        here.run.events.emit("loop.protected_restored", iteration=given.number, files=list(point.restored))
    if point.unkept:
        here.run.events.emit("loop.files_unkept", iteration=given.number, files=list(point.unkept))


def _keep_budget(given: IterateInput) -> None:
    calls = RunDir(given.request.run_dir).ledger.calls()
    if refusal := budget_refusal(given.request, calls, worked_seconds(given.request.run_dir)):
        raise BudgetExceeded(refusal)


def _call(given: IterateInput, here: Surroundings, folder: Path) -> AgentReply:
    write_atomic(folder / "prompt.md", here.redact(given.prompt.text), view=True)
    _announce(given, here)
    here.run.ledger.begin(given.session, given.number)
    chosen = given.request.using(given.choice)
    reply = agent_for(chosen).run(
        AgentCall(
            prompt=folder / "prompt.md",
            workdir=here.workdir,
            output_dir=folder,
            run_dir=here.run.path,
            environment=here.environment,
            timeout=time_limit(given.request, worked_seconds(given.request.run_dir)),
            mark=here.mark,
            redact=here.redact,
            session=given.session,
            iteration=given.number,
            model=chosen.model,
            budget_usd=dollars_left(given.request, here.run.ledger.spent()),
            permissions=given.request.permissions,
            max_turns=given.request.max_turns,
            idle_timeout=given.request.agent_idle_timeout,
            resume=given.resume,
            keep_context=given.request.agent_session is AgentSession.CONTINUE,
            writable=(Path(given.workspace.root), *commit_folders(given.workspace)),
            extra_env=given.request.agent_env,
            sandbox=here.sandbox.also(folder),
        )
    )
    save_stopwatch(here.run.path)
    reply = reply.model_copy(update={"agent": str(given.choice), "rung": given.rung})
    if reply.outcome in UNPAID:
        _unanswered(given, here, reply)
    return reply


def _unanswered(given: IterateInput, here: Surroundings, reply: AgentReply) -> NoReturn:
    """A call without an answer is in the ledger, but it is no iteration."""
    here.run.ledger.add(call_of(given.session, given.number, reply, datetime.now(UTC)))
    if reply.outcome is AgentOutcome.REFUSED:
        raise AgentRefused(f"the agent refused to work: {reply.error or 'no reason given'}")
    sentence = f"the agent is unavailable for now: {reply.error or 'no reason given'}"
    if reply.reset_at is not None and reply.reset_at.timestamp() > time.time() + next_delay():
        raise AgentLimited(sentence, reply.reset_at.timestamp())
    if attempts_left():
        here.run.events.emit(
            "loop.agent_waiting",
            iteration=given.number,
            attempt=attempt_number(),
            seconds=next_delay(),
            error=reply.error,
        )
        hold_stopwatch(here.run.path)  # until Prefect runs this task again
    raise AgentUnavailable(sentence)


def _announce(given: IterateInput, here: Surroundings) -> None:
    sent, budget = len(given.prompt.text), given.request.prompt_budget
    here.run.events.emit(
        "loop.iteration_start",
        iteration=given.number,
        max=given.max_iterations,
        session=given.session,
        agent=str(given.choice),
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
    if why := over_budget(given.prompt, budget):
        here.run.events.emit("loop.degraded", what="prompt budget", why=why)
    if given.prompt.cut:
        here.run.events.emit(
            "loop.context_trimmed",
            iteration=given.number,
            original=given.prompt.raw_chars,
            trimmed=sent,
            budget=budget,
            sections=list(given.prompt.cut),
        )
