"""buildloop itself as a policy: the real flow on a real Prefect server."""

from __future__ import annotations

import os
import time
from pathlib import Path

from benchmarks.gauntlet_parts.outcome import CHARACTERS_PER_TOKEN, Ended
from benchmarks.gauntlet_parts.repository import check_out, make_repository
from benchmarks.gauntlet_parts.scenario import Scenario
from benchmarks.gauntlet_parts.while_loop import AGENT_SECONDS
from buildloop.events import read_events
from buildloop.memory.location import VARIABLE
from buildloop.request import BuildRequest, new_run_id
from buildloop.result import BuildResult


def run_product(scenario: Scenario, root: Path, state_dir: Path) -> Ended:
    """Waits for a passing agent error are cut to nothing and the cap is not extended, for it is the same for all
    policies; all else is as a user gets it."""
    from flows.build_loop import build_loop

    started = time.monotonic()
    os.environ[VARIABLE] = str(root / "memory.db")  # each scenario starts without a past
    repo = make_repository(scenario, root / "repo")
    request = BuildRequest(
        goal=scenario.goal,
        repo=str(repo),
        test=scenario.gate_commands,
        accept=scenario.accept_command,
        agent="scripted",
        agent_script=str(scenario.write_agent_script(root / "agent.json")),
        max_iterations=scenario.cap,
        extension_size=0,
        agent_timeout=AGENT_SECONDS,
        gate_timeout=scenario.gate_timeout,
        context_window=scenario.context_window,
        retry_delay=0,
        state_dir=str(state_dir),
    ).named(f"{scenario.name}-{new_run_id()}"[:64])
    outcome = build_loop(request, return_state=True).result(raise_on_failure=False)
    if not isinstance(outcome, BuildResult):
        raise outcome
    return Ended(
        outcome.reason,
        _calls(request.run_dir),
        _tokens(request.run_dir, outcome),
        time.monotonic() - started,
        check_out(repo, outcome.commit, root / "result"),
        outcome.explanation,
    )


def _calls(run_dir: Path) -> int:
    """Every call of the agent, also one that was refused or only told to come again later."""
    return sum(
        1 for event in read_events(run_dir / "events.jsonl") if event["type"] == "loop.iteration_start"
    )


def _tokens(run_dir: Path, result: BuildResult) -> int:
    prompts = sum(path.stat().st_size for path in (run_dir / "iterations").glob("*/prompt.md"))
    return prompts // CHARACTERS_PER_TOKEN + result.usage.fresh_tokens
