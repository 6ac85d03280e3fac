"""A second agent's one try to refute finished work, or its earlier test once more on new work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from prefect import task

from buildloop.agents.contract import AgentCall
from buildloop.agents.registry import agent_for, as_falsifier
from buildloop.budget import budget_refusal, dollars_left, time_limit
from buildloop.errors import AgentRefused, AgentUnavailable, BudgetExceeded
from buildloop.falsify import falsify_prompt, judged, storable, tests_among
from buildloop.files import write_atomic
from buildloop.frozen import Frozen
from buildloop.gate.run import run_gate
from buildloop.ledger import UNPAID, call_of
from buildloop.models import AgentOutcome, AgentReply, GateReport, Refutation, RefutingTest, WorkspaceInfo
from buildloop.redact import mask_own
from buildloop.request import BuildRequest
from buildloop.stopwatch import save_stopwatch, worked_seconds
from buildloop.workspace.checkpoint import diff_text
from buildloop.workspace.link import commit_folders
from buildloop.workspace.second import added_files, second_worktree
from buildloop.workspace.settled import settle_after_gate
from buildloop.workspace.trial import as_entry, standing_on, tree_with
from buildloop.workspace.worktree import reopen
from tasks.masked_errors import masked_errors
from tasks.options import DURABLE, attempts_left, tell
from tasks.surroundings import Surroundings, gate_setup, surroundings

ATTEMPTS = 2
FALSIFY = "(falsify)"
IN_A_TEST = "a secret in a test of the second agent"


class Written(Frozen):
    """What the second agent's call came to, on disk before anything else is done with it."""

    reply: AgentReply
    tests: tuple[RefutingTest, ...]


@dataclass(frozen=True, slots=True)
class FalsifyInput:
    """`commit` holds `tree`, which is green. `tests` are those of an earlier try: then no agent is called."""

    request: BuildRequest
    workspace: WorkspaceInfo
    session: int
    number: int
    commit: str
    tree: str
    environment: Mapping[str, str]
    tests: tuple[RefutingTest, ...] = ()

    @property
    def agent(self) -> str:
        return str(self.request.falsifier)

    @property
    def label(self) -> str:
        return f"falsify s{self.session} i{self.number}"


@task(name="falsify", task_run_name="{given.label}", **DURABLE)
@masked_errors
def falsify(key: str, given: FalsifyInput) -> Refutation:
    """The test must fail twice, by its answer: neither a flaky test nor one that is wrong itself refutes anything."""
    here = surroundings(given.request, given.workspace, given.environment)
    reopen(given.workspace, given.commit)
    try:
        tests = given.tests or _written(given, here)
    except (AgentRefused, AgentUnavailable, BudgetExceeded) as error:
        if isinstance(error, AgentUnavailable) and attempts_left():
            raise
        return _untried(given, here, str(error))
    found = judged(given.agent, tests, _tried(given, here, tests) if tests else [])
    here.run.events.emit(
        "loop.falsified",
        iteration=given.number,
        agent=given.agent,
        refuted=found.refuted,
        files=[test.path for test in found.tests],
        failing=[here.redact(one) for one in found.failing],
        why=here.redact(found.why),
    )
    tell(f"{given.label}: {'refuted' if found.refuted else 'not refuted'}", "falsify")
    return found


def _untried(given: FalsifyInput, here: Surroundings, why: str) -> Refutation:
    """The work is green and proven; that nobody could try to refute it is said, and takes nothing away from it."""
    here.run.events.emit(
        "loop.degraded", what="--falsify: nobody tried to refute the work", why=here.redact(why)
    )
    tell(f"{given.label}: not tried", "falsify")
    return Refutation(agent=given.agent, refuted=False, tried=False, why=here.redact(why))


def _written(given: FalsifyInput, here: Surroundings) -> tuple[RefutingTest, ...]:
    """The tests of the agent. Its call is paid once, whenever this is broken off."""
    folder = here.run.iteration_dir(given.session, given.number) / "falsify"
    kept = folder / "written.json"
    if kept.exists():
        written = Written.model_validate_json(kept.read_bytes())
    else:
        with second_worktree(given.workspace, given.commit) as second:
            reply = _answer(given, second, folder)
            added = added_files(second, given.commit, folder / "exclude")
        written = Written(reply=reply, tests=tests_among(_storable(given, here, added)))
        write_atomic(kept, written.model_dump_json(indent=2) + "\n")
    if not _in_ledger(given, here):
        here.run.ledger.add(call_of(given.session, given.number, written.reply, datetime.now(UTC)))
    return written.tests


def _storable(given: FalsifyInput, here: Surroundings, added: Mapping[str, str]) -> Mapping[str, str]:
    kept = storable(added, mask_own)
    for name in sorted({*added} - {*kept}):
        here.run.events.emit(
            "loop.secret_refused", iteration=given.number, file=here.redact(name), kind=IN_A_TEST, line=0
        )
    return kept


def _in_ledger(given: FalsifyInput, here: Surroundings) -> bool:
    place = (given.session, given.number)
    return any(
        (call.session, call.iteration) == place and call.agent.endswith(FALSIFY) and call.paid
        for call in here.run.ledger.calls()
    )


def _answer(given: FalsifyInput, second: WorkspaceInfo, folder: Path) -> AgentReply:
    request = given.request
    there = surroundings(request, second, given.environment)
    ledger = there.run.ledger
    ledger.close_interrupted(given.session, given.number, given.agent)
    if refusal := budget_refusal(request, ledger.calls(), worked_seconds(request.run_dir)):
        raise BudgetExceeded(refusal)
    folder.mkdir(parents=True, exist_ok=True)
    diff = diff_text(given.workspace, given.workspace.start_commit, given.commit)
    write_atomic(folder / "prompt.md", there.redact(falsify_prompt(request, diff).text))
    ledger.begin(given.session, given.number)
    chosen = as_falsifier(request)
    sandbox = replace(there.sandbox, readable=(*there.sandbox.readable, Path(given.workspace.root)))
    reply = agent_for(chosen).run(
        AgentCall(
            prompt=folder / "prompt.md",
            workdir=there.workdir,
            output_dir=folder,
            run_dir=there.run.path,
            environment=there.environment,
            timeout=time_limit(request, worked_seconds(request.run_dir)),
            mark=there.mark,
            redact=there.redact,
            session=given.session,
            iteration=given.number,
            model=chosen.model,
            budget_usd=dollars_left(request, ledger.spent()),
            permissions=request.permissions,
            max_turns=request.max_turns,
            idle_timeout=request.agent_idle_timeout,
            keep_context=False,
            writable=(Path(second.root), *commit_folders(second)),
            extra_env=request.agent_env,
            sandbox=sandbox.also(folder),
        )
    )
    save_stopwatch(there.run.path)
    reply = reply.model_copy(update={"agent": f"{given.agent} {FALSIFY}"})
    if reply.outcome in UNPAID:
        ledger.add(call_of(given.session, given.number, reply, datetime.now(UTC)))
        error = AgentRefused if reply.outcome is AgentOutcome.REFUSED else AgentUnavailable
        raise error(f"the agent of --falsify gave no answer: {reply.error or 'no reason given'}")
    return reply


def _tried(given: FalsifyInput, here: Surroundings, tests: tuple[RefutingTest, ...]) -> list[GateReport]:
    root = Path(given.workspace.root)
    entries = {test.path: as_entry(root, test.text) for test in tests}
    tree = tree_with(root, given.commit, entries)
    setup = gate_setup(here, given.request, given.workspace, given.session, given.number)
    reports = []
    for attempt in range(1, ATTEMPTS + 1):
        with standing_on(given.workspace, tree, tuple(entries)):
            reports.append(run_gate(given.request.test, setup, tree, name=f"falsify-{attempt}"))
        settle_after_gate(given.workspace, here.run.exclude_file)
        if reports[-1].passed:
            break
    return reports
