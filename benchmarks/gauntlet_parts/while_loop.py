"""The loop of today: prompt, agent, gate, again. What a policy does about a red gate is given to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.gauntlet_parts.commands import MARK, GateRun, environment_for, run_commands
from benchmarks.gauntlet_parts.outcome import CHARACTERS_PER_TOKEN, Ended
from benchmarks.gauntlet_parts.repository import commit_all, make_repository
from benchmarks.gauntlet_parts.scenario import Scenario
from buildloop.agents.contract import AgentCall
from buildloop.agents.scripted import ScriptedAgent
from buildloop.models import AgentReply, Usage
from buildloop.redact import redactor
from buildloop.result import StopReason

TAIL_LINES = 50
AGENT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Turn:
    """One agent call and the gate after it. The first turn is the baseline, without a call."""

    gate: GateRun
    changed: bool = False
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a reaction may change. `begun` is the turn the session began with; `summary` is told to it."""

    cap: int
    window: int
    session: int = 1
    begun: int = 0
    summary: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one scenario under one policy."""

    root: Path

    @property
    def repo(self) -> Path:
        return self.root / "repo"


Reaction = Callable[[Standing, list[Turn], Place], Standing]


def no_reaction(standing: Standing, _: list[Turn], __: Place) -> Standing:
    return standing


def run_while_loop(scenario: Scenario, root: Path, react: Reaction) -> Ended:
    """Up to `cap` agent calls; green after a call ends it."""
    started, place = time.monotonic(), Place(root)
    make_repository(scenario, place.repo)
    agent = ScriptedAgent(scenario.write_agent_script(root / "agent.json"))
    standing = Standing(cap=scenario.cap, window=scenario.context_window)
    turns = [Turn(_gate(scenario, place, standing, 0))]
    standing = standing if turns[0].gate.passed else react(standing, turns, place)
    tokens = 0
    while len(turns) <= standing.cap:
        number = len(turns)
        prompt = compose(scenario, standing, turns[-1].gate)
        reply = _call(agent, place, standing, number, prompt)
        tokens += len(prompt) // CHARACTERS_PER_TOKEN + reply.usage.fresh_tokens
        changed = commit_all(place.repo, f"iteration {number}")
        turns.append(Turn(_gate(scenario, place, standing, number), changed, reply.usage))
        if turns[-1].gate.passed:
            return Ended(StopReason.COMPLETE, number, tokens, time.monotonic() - started, place.repo)
        standing = react(standing, turns, place)
    return Ended(StopReason.MAX_ITERATIONS, len(turns) - 1, tokens, time.monotonic() - started, place.repo)


def compose(scenario: Scenario, standing: Standing, gate: GateRun) -> str:
    """Goal, gate, end of the log: what such loops tell their agent."""
    tail = "\n".join(gate.log.splitlines()[-TAIL_LINES:])
    parts = [
        scenario.goal,
        standing.summary,
        "These commands must pass:\n" + "\n".join(scenario.all_commands),
        "They pass." if gate.passed else f"They fail. End of the output:\n{tail}",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _gate(scenario: Scenario, place: Place, standing: Standing, number: int) -> GateRun:
    log = place.root / "logs" / f"gate-{number}.log"
    return run_commands(scenario.all_commands, place.repo, log, scenario.gate_timeout, standing.environment)


def _call(agent: ScriptedAgent, place: Place, standing: Standing, number: int, prompt: str) -> AgentReply:
    output = place.root / "calls" / str(number)
    output.mkdir(parents=True)
    (output / "prompt.md").write_text(prompt, encoding="utf-8")
    return agent.run(
        AgentCall(
            prompt=output / "prompt.md",
            workdir=place.repo,
            output_dir=output,
            run_dir=place.root,
            environment=environment_for(place.repo, standing.environment),
            timeout=AGENT_SECONDS,
            mark=MARK,
            redact=redactor({}),
            session=standing.session,
            iteration=number,
        )
    )
