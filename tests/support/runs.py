"""Whole runs as reports see them: typical ones, and those that are hard to draw."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from datetime import UTC, datetime

from buildloop.diagnosis.model import Diagnosis, FailureMode, Finding, LogReading, TestCounts
from buildloop.ledger import add_up
from buildloop.models import (
    AgentOutcome,
    AgentReply,
    AgentRun,
    Checkpoint,
    CommandResult,
    GateReport,
    Iteration,
    Recovery,
    Remedy,
    Usage,
    Verdict,
    WorkspaceInfo,
)
from buildloop.recovery.strategies import strategy_for
from buildloop.report.facts import RunFacts
from buildloop.report.outcome import next_step
from buildloop.request import BuildRequest
from buildloop.result import BuildResult, StopReason

GOAL = "Make the checkout total include VAT for every EU country"
COMMAND = "python -m pytest -q tests"
LONG_NAME = (
    "tests/integration/billing/test_invoice_rendering_for_customers_with_very_long_names.py::"
    "TestInvoicePdfRendering::test_total_is_right_justified[eu-customer-with-vat-number-and-reverse-charge-DE123456789]"
)
EVIDENCE = {
    FailureMode.CODE_ERROR: (
        "E   AssertionError: assert Decimal('119.00') == Decimal('100.00')",
        "tests/test_cart.py:48: in test_total_with_vat",
    ),
    FailureMode.DEPENDENCY_ISSUE: ("ModuleNotFoundError: No module named 'babel'",),
    FailureMode.TEST_FLAKINESS: (
        "tests/test_mail.py::test_queue_drains failed, then passed on the same tree",
    ),
    FailureMode.INFINITE_LOOP: ("3 failing tests stayed the same over 4 iterations with changes",),
    FailureMode.CONTEXT_EXHAUSTION: ("context at 74 % of 200,000 tokens, threshold 70 %",),
}


def sha(kind: str, number: int) -> str:
    return hashlib.sha1(f"{kind} {number}".encode()).hexdigest()


def gate(
    number: int, failing: int, total: int = 240, tests: tuple[str, ...] = (), seconds: float = 41.3
) -> GateReport:
    names = tests or tuple(f"tests/test_cart.py::test_total_{i}" for i in range(failing))
    red = failing > 0
    reading = LogReading(
        findings=tuple(Finding(message=f"{name} is wrong", test=name) for name in names[:failing]),
        counts=TestCounts(run=total, passed=total - failing, failed=failing, skipped=3),
        failing=names[:failing],
        error_lines=EVIDENCE[FailureMode.CODE_ERROR] if red else (),
    )
    verdict = Verdict.FAILED if red else Verdict.PASSED
    ran = CommandResult(command=COMMAND, verdict=verdict, exit_code=int(red), seconds=seconds, log="gate.log")
    tail = "\n".join(f"FAILED {name} - AssertionError" for name in names[:failing])
    return GateReport(verdict=verdict, tree=sha("tree", number), commands=(ran,), reading=reading, tail=tail)


def step(
    number: int,
    report: GateReport,
    mode: FailureMode | None = None,
    *,
    session: int = 1,
    fill: int = 0,
    cost: float | None = 0.42,
    files: tuple[str, ...] = ("shop/cart.py", "shop/vat.py"),
    said: str = "The rate table lacked Croatia; I added it and moved rounding into one place.",
) -> Iteration:
    """Number 0 is the baseline."""
    remedies: tuple[Remedy, ...] = ()
    if mode is not None:
        strategy = strategy_for(mode)
        remedies = (
            Remedy(
                fingerprint="f",
                diagnosis=Diagnosis(
                    mode,
                    0.87,
                    EVIDENCE[mode],
                    runner_up=FailureMode.CODE_ERROR if mode is not FailureMode.CODE_ERROR else None,
                ),
                recovery=Recovery(strategy=strategy, outcome=strategy.description),
            ),
        )
    agent = None
    if number:
        usage = (
            Usage()
            if cost is None
            else Usage(input_tokens=9_000, cache_read_tokens=180_000, output_tokens=4_200, cost_usd=cost)
        )
        agent = AgentRun(
            reply=AgentReply(outcome=AgentOutcome.OK, exit_code=0, seconds=95.0, usage=usage, text=said),
            checkpoint=Checkpoint(
                parent=sha("commit", number - 1),
                commit=sha("commit", number),
                tree=report.tree,
                files=files,
                insertions=18 + number,
                deletions=number,
            ),
        )
    return Iteration(
        session=session, number=number, reports=(report,), agent=agent, remedies=remedies, context_pct=fill
    )


def facts(
    steps: list[Iteration], reason: StopReason | None, explanation: str = "", **changes: object
) -> RunFacts:
    fields: dict[str, object] = {
        "goal": GOAL,
        "repo": "/home/ada/shop",
        "test": (COMMAND,),
        "agent_command": "agent",
        "state_dir": "/home/ada/.local/state/buildloop",
        "run_id": "1116-081502-3fa9",
    }
    request = BuildRequest.model_validate({**fields, **changes})
    workspace = WorkspaceInfo(
        root="/home/ada/.local/state/buildloop/worktrees/1116-081502-3fa9",
        workdir="/home/ada/.local/state/buildloop/worktrees/1116-081502-3fa9",
        branch="buildloop/1116-081502-3fa9",
        start_commit=sha("commit", 0),
        start_tree=sha("tree", 0),
        repo="/home/ada/shop",
        repo_id="id",
    )
    result = None
    if reason is not None:
        last = steps[-1] if steps else None
        result = BuildResult(
            run_id=str(request.run_id),
            reason=reason,
            explanation=explanation,
            next_step=next_step(reason, str(request.run_id), workspace.branch),
            iterations=last.number if last else 0,
            sessions=last.session if last else 1,
            branch=workspace.branch,
            commit=(last.head if last else None) or workspace.start_commit,
            tree=last.gate.tree if last else "",
            failing=last.gate.reading.failing if last else (),
            usage=add_up([one.agent.reply.usage for one in steps if one.agent]),
            seconds=sum(140.0 for _ in steps),
            run_dir="/home/ada/.local/state/buildloop/runs/1116-081502-3fa9",
        )
    started = datetime(2026, 11, 16, 8, 15, tzinfo=UTC)
    return RunFacts(
        request=request, workspace=workspace, iterations=tuple(steps), result=result, started=started
    )


def complete() -> RunFacts:
    """All five modes, two sessions, a flaky test, a cheat that was caught; green at the end."""
    mode = FailureMode
    cheat = gate(4, 1)
    caught = Finding(message="the test file tests/test_vat.py was deleted", tool="integrity")
    cheat = cheat.model_copy(update={"reading": replace(cheat.reading, findings=(caught,))})
    flaky = step(
        6,
        gate(6, 1, tests=("tests/test_mail.py::test_queue_drains",)),
        mode.TEST_FLAKINESS,
        session=2,
        fill=31,
    )
    flaky = flaky.with_report(
        flaky.gate.model_copy(update={"verdict": Verdict.FAILED, "reading": replace(gate(6, 1).reading)})
    )
    steps = [
        step(0, gate(0, 9), mode.DEPENDENCY_ISSUE),
        step(1, gate(1, 7), mode.CODE_ERROR, fill=22, cost=0.61),
        step(2, gate(2, 5), mode.CODE_ERROR, fill=41, cost=0.48),
        step(3, gate(3, 5), mode.INFINITE_LOOP, fill=58, cost=0.55),
        step(4, cheat, mode.CODE_ERROR, fill=66, cost=0.35),
        step(5, gate(5, 3), mode.CONTEXT_EXHAUSTION, fill=74, cost=0.72),
        flaky,
        step(7, gate(7, 0), session=2, fill=38, cost=0.29),
    ]
    return facts(
        steps,
        StopReason.COMPLETE,
        f"A fresh run of the whole gate on commit {sha('commit', 7)[:10]} is green.",
    )


def one_iteration() -> RunFacts:
    steps = [step(0, gate(0, 1), FailureMode.CODE_ERROR), step(1, gate(1, 0), fill=12, cost=0.08)]
    return facts(
        steps,
        StopReason.COMPLETE,
        f"A fresh run of the whole gate on commit {sha('commit', 1)[:10]} is green.",
    )


def long_run() -> RunFacts:
    """200 iterations that get better slowly, over five sessions, and end at their limit."""
    dice = random.Random(7)
    modes = [FailureMode.CODE_ERROR] * 6 + [FailureMode.INFINITE_LOOP, FailureMode.TEST_FLAKINESS]
    steps, failing = [step(0, gate(0, 160), FailureMode.CODE_ERROR)], 160
    mode = FailureMode.CODE_ERROR
    for number in range(1, 201):
        failing = max(4, failing + dice.choice([-3, -2, -1, -1, 0, 1]))
        mode = dice.choice(modes) if number % 7 == 0 else mode
        session, fill = 1 + number // 41, 15 + 60 * (number % 41) // 41
        steps.append(
            step(number, gate(number, failing), mode, session=session, fill=fill, cost=dice.uniform(0.1, 0.9))
        )
    return facts(
        steps,
        StopReason.MAX_ITERATIONS,
        "All 200 iterations were used; the gate is red (4 failing).",
        max_iterations=200,
    )


def many_failures() -> RunFacts:
    """300 failing tests with long names, long commands and a goal of several paragraphs."""
    names = tuple(f"{LONG_NAME}-{number}" for number in range(300))
    report = gate(0, 300, 320, names)
    files = tuple(
        f"services/billing/internal/rendering/templates/invoice/part_{number}_of_the_generated_code.py"
        for number in range(40)
    )
    steps = [
        step(0, report, FailureMode.CODE_ERROR),
        step(1, gate(1, 300, 320, names), FailureMode.CODE_ERROR, fill=33, files=files),
        step(2, gate(2, 299, 320, names), FailureMode.INFINITE_LOOP, fill=51, files=files),
    ]
    goal = (
        "Render invoices without the legacy template engine\n\n"
        + "Every paragraph must keep its place. " * 12
    )
    return facts(
        steps,
        StopReason.STUCK,
        "The same failure stayed although the agent was redirected 2 times; a person has to look at it.",
        goal=goal,
        test=(
            "docker compose --project-name billing-ci run --rm --no-deps tests python -m pytest --maxfail=1000 -q",
        ),
    )


def no_agent_calls() -> RunFacts:
    """The agent refused before it did anything."""
    steps = [step(0, gate(0, 2), FailureMode.CODE_ERROR)]
    return facts(steps, StopReason.AGENT_REFUSED, "the agent refused to work: invalid API key (401)")


def no_cost() -> RunFacts:
    steps = [
        step(0, gate(0, 4), FailureMode.CODE_ERROR),
        step(1, gate(1, 2), FailureMode.CODE_ERROR, cost=None),
        step(2, gate(2, 0), cost=None),
    ]
    return facts(
        steps,
        StopReason.COMPLETE,
        f"A fresh run of the whole gate on commit {sha('commit', 2)[:10]} is green.",
    )


def cancelled() -> RunFacts:
    steps = complete().iterations[:4]
    return facts(
        list(steps),
        StopReason.CANCELLED,
        "Cancelled; agent and gate were stopped, finished iterations are kept.",
    )


def accepted() -> RunFacts:
    """A person took it although a test is red."""
    steps = [
        step(0, gate(0, 3), FailureMode.CODE_ERROR),
        step(1, gate(1, 1), FailureMode.CODE_ERROR, fill=12),
    ]
    why = "A person accepted it as it is. All iterations were used."
    return facts(steps, StopReason.ACCEPTED, why)


def nothing_yet() -> RunFacts:
    return replace(facts([], None), running=True)


ALL = {
    "complete": complete,
    "one_iteration": one_iteration,
    "long_run": long_run,
    "many_failures": many_failures,
    "no_agent_calls": no_agent_calls,
    "no_cost": no_cost,
    "cancelled": cancelled,
    "accepted": accepted,
    "nothing_yet": nothing_yet,
}
