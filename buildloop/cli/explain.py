"""`buildloop explain`: for each iteration, why it was red, how sure we are, and what followed from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from buildloop.cli.output import console, print_json
from buildloop.cli.paths import state_folder
from buildloop.models import Iteration, Remedy
from buildloop.recovery.policy import RetryPolicy, retry_policy
from buildloop.report.words import money
from buildloop.request import BuildRequest
from buildloop.rundir import find_run
from buildloop.text import one_line

EVIDENCE_SHOWN = 5


def explain_run(run_id: str | None, state_dir: Path | None, *, as_json: bool) -> None:
    run = find_run(state_folder(state_dir), run_id)
    request, iterations, result = run.request(), run.iterations(), run.result()
    if as_json:
        facts = [iteration_facts(one, request) for one in iterations]
        print_json(
            {"run_id": run.run_id, "iterations": facts, "result": result.as_json() if result else None}
        )
        return
    screen = console()
    screen.print(f"run [bold]{run.run_id}[/bold]: {escape(one_line(request.goal, 100))}")
    for one in iterations:
        _tell(screen, one, request)
    if result is not None:
        screen.print(f"\nended: [bold]{result.reason}[/bold]. {escape(result.explanation)}")
        screen.print(f"  next: {result.next_step}", markup=False)


def iteration_facts(one: Iteration, request: BuildRequest) -> dict[str, Any]:
    """Everything that was decided in one iteration, with its reasons."""
    return {
        "iteration": one.number,
        "session": one.session,
        "gate": one.gate.in_words,
        "agent": one.agent.reply.outcome if one.agent else None,
        "cost_usd": one.agent.reply.usage.cost_usd if one.agent else None,
        "tokens": one.agent.reply.usage.all_tokens if one.agent else None,
        "diagnoses": [_remedy_facts(remedy, request) for remedy in one.remedies],
    }


def policy_in_words(remedy: Remedy, request: BuildRequest) -> str:
    """The retry policy that the strategy generated for the tasks after it."""
    policies = retry_policy(remedy.recovery.strategy, request)
    named = (("gate", policies.gate), ("agent", policies.iterate), ("install", policies.recover))
    return "; ".join(f"{name} {_retries(policy)}" for name, policy in named if policy.retries) or "no retries"


def _remedy_facts(remedy: Remedy, request: BuildRequest) -> dict[str, Any]:
    found, done = remedy.diagnosis, remedy.recovery
    return {
        "mode": found.mode,
        "confidence": found.confidence,
        "evidence": list(found.evidence),
        "runner_up": found.runner_up,
        "preexisting": list(found.preexisting),
        "forced": found.forced,
        "fingerprint": remedy.fingerprint,
        "strategy": done.strategy.model_dump(mode="json"),
        "outcome": done.outcome,
        "policy": policy_in_words(remedy, request),
    }


def _tell(screen: Console, one: Iteration, request: BuildRequest) -> None:
    colour = "green" if one.gate.passed else "red"
    name = "baseline" if one.number == 0 else f"iteration {one.number}"
    spent = (
        f" · {one.agent.reply.usage.all_tokens:,} tokens {money(one.agent.reply.usage.cost_usd)}"
        if one.agent
        else ""
    )
    screen.print(
        f"\n[bold]{name}[/bold] (session {one.session}): [{colour}]{one.gate.in_words}[/{colour}]{spent}"
    )
    for remedy in one.remedies:
        for line in _lines(remedy, request):
            screen.print(f"  {line}")


def _lines(remedy: Remedy, request: BuildRequest) -> Iterator[str]:
    found, done = remedy.diagnosis, remedy.recovery
    forced = ", forced by --failure-mode" if found.forced else ""
    second = f", else {found.runner_up}" if found.runner_up else ""
    yield f"[yellow]{found.mode}[/yellow] ({found.confidence:.0%}{second}{forced})"
    for line in found.evidence[:EVIDENCE_SHOWN]:
        yield f"  because   {escape(one_line(line, 140))}"
    if found.preexisting:
        yield f"  before    failing already at the baseline: {escape(one_line(', '.join(found.preexisting), 120))}"
    yield f"  then      {done.strategy.action}: {escape(one_line(done.outcome, 120))}"
    yield f"  policy    {policy_in_words(remedy, request)}"


def _retries(policy: RetryPolicy) -> str:
    waits = ", ".join(f"{delay:g}" for delay in policy.delays)
    return f"up to {policy.retries} retries (after {waits} s)"
