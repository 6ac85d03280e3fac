"""A run as a story: how it ended, what is proven, what was tried. Every report is a view of this value."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from buildloop.attempts import flaky_tests
from buildloop.ledger import add_up
from buildloop.models import GateReport, Iteration, Usage
from buildloop.progress import Effect, recovery_effects
from buildloop.redact import redactor
from buildloop.report.commands import Typed, commands_for
from buildloop.report.facts import RunFacts
from buildloop.report.integrity import (
    Objected,
    counter_proof_text,
    kept_out,
    objected,
    refutation_claim,
)
from buildloop.report.masked import masked_value
from buildloop.report.outcome import handed_back_text
from buildloop.report.words import MODES, count
from buildloop.result import StopReason


@dataclass(frozen=True, slots=True)
class Outcome:
    """`tone` is good, bad or open; `word` says it, `why` explains it, `then` is what a person can do."""

    tone: str
    word: str
    why: str
    then: str


@dataclass(frozen=True, slots=True)
class Proof:
    """The last gate run on the tree that is handed over. `holds` says whether it proves the goal."""

    holds: bool
    claim: str
    report: GateReport | None
    commit: str
    tree: str


@dataclass(frozen=True, slots=True)
class FlakyTest:
    """A test that passed and failed on one tree, or whose failure was excused for that."""

    test: str
    iterations: tuple[int, ...]
    excused: bool


@dataclass(frozen=True, slots=True)
class SessionCost:
    """`calls` are all calls of the agent, also those that gave nothing."""

    number: int
    calls: int
    usage: Usage
    seconds: float
    fill: int
    ended: str


@dataclass(frozen=True, slots=True)
class Story:
    facts: RunFacts
    outcome: Outcome
    proof: Proof
    steps: tuple[Iteration, ...]
    sessions: tuple[SessionCost, ...]
    flaky: tuple[FlakyTest, ...]
    integrity: tuple[Objected, ...]
    kept_out: tuple[tuple[int, str], ...]
    failing: tuple[str, ...]
    usage: Usage
    commands: tuple[Typed, ...]
    effects: Mapping[int, tuple[Effect, ...]]

    @property
    def iterations(self) -> int:
        return sum(1 for one in self.steps if one.agent)

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.sessions)

    @property
    def question(self) -> str:
        return self.facts.result.question if self.facts.result else ""

    def since(self, test: str) -> str:
        """How long a test has been failing, in words; empty where that is not known."""
        known = self.facts.result.since if self.facts.result else {}
        if test not in known:
            return ""
        return f"since iteration {known[test]}" if known[test] else "from the start"

    @property
    def seconds(self) -> float:
        if self.facts.result is not None:
            return self.facts.result.seconds
        return sum(spent(one) for one in self.steps)

    @property
    def modes(self) -> tuple[str, ...]:
        """The failure modes that were met, in the order of the table."""
        met = {remedy.diagnosis.mode for one in self.steps for remedy in one.remedies}
        return tuple(mode for mode in MODES if mode in met)


def story_of(facts: RunFacts) -> Story:
    """The story as anybody may read it: what this environment knows as a secret is masked in it."""
    facts = masked_value(facts, redactor(os.environ))
    steps = tuple(facts.iterations)
    handed = _handed_over(facts)
    return Story(
        facts=facts,
        outcome=_outcome(facts),
        proof=_proof(facts, handed),
        steps=steps,
        sessions=tuple(_sessions(facts)),
        flaky=_flaky(steps),
        integrity=tuple(objected(steps)),
        kept_out=tuple(kept_out(steps)),
        failing=handed.gate.reading.failing if handed else (),
        usage=add_up([usage for _, usage in _usages(facts)]),
        commands=commands_for(facts),
        effects=_effects(steps),
    )


def _usages(facts: RunFacts) -> list[tuple[int, Usage]]:
    """Session and usage of every agent call; runs without a ledger have at least those that led to an iteration."""
    if facts.calls:
        return [(call.session, call.usage) for call in facts.calls]
    return [(one.session, one.agent.reply.usage) for one in facts.iterations if one.agent]


def _effects(steps: Sequence[Iteration]) -> dict[int, tuple[Effect, ...]]:
    found: dict[int, tuple[Effect, ...]] = {}
    for one in recovery_effects(steps):
        found[one.iteration] = (*found.get(one.iteration, ()), one.effect)
    return found


def when(number: int) -> str:
    return "baseline" if number == 0 else f"iteration {number}"


def spent(one: Iteration) -> float:
    return sum(report.seconds for report in one.reports) + (one.agent.reply.seconds if one.agent else 0)


def _outcome(facts: RunFacts) -> Outcome:
    result, steps = facts.result, facts.iterations
    run_id = facts.request.run_id
    if result is not None:
        tone = "good" if result.reason.is_success else "bad"
        tone = "open" if result.reason is StopReason.CANCELLED else tone
        return Outcome(tone, result.reason.replace("_", " "), result.explanation, result.next_step)
    last = f"{when(steps[-1].number)}, gate {steps[-1].gate.in_words}" if steps else ""
    done = f"Last finished: {last}." if last else "No gate run has finished yet."
    if facts.running:
        return Outcome("open", "running", done, f"watch it with 'buildloop status {run_id}'")
    why = f"The process that worked on it is gone. {done}"
    return Outcome("open", "interrupted", why, f"continue it with 'buildloop resume {run_id}'")


def _handed_over(facts: RunFacts) -> Iteration | None:
    """The iteration whose tree the branch holds: the last one, or the best where the run went back to it."""
    if not facts.iterations:
        return None
    tree = facts.result.tree if facts.result else facts.iterations[-1].gate.tree
    same = [one for one in facts.iterations if one.gate.tree == tree]
    return same[-1] if same else facts.iterations[-1]


def _proof(facts: RunFacts, handed: Iteration | None) -> Proof:
    if handed is None:
        return Proof(False, "No gate has answered yet, so nothing is proven.", None, "", "")
    start = facts.workspace.start_commit if facts.workspace else ""
    commit = (facts.result.commit if facts.result else "") or handed.head or start
    complete = facts.result is not None and facts.result.reason is StopReason.COMPLETE
    best = handed_back_text(facts.result) if facts.result else ""
    claim = " ".join(filter(None, [_claim(facts, handed, complete=complete), best]))
    return Proof(complete, claim, handed.gate, commit, handed.gate.tree)


def _claim(facts: RunFacts, handed: Iteration, *, complete: bool) -> str:
    before = facts.iterations[0].gate
    at_start = f"Before the agent began the gate was {'red, ' if not before.passed else ''}{before.in_words}"
    if complete:
        attempts = handed.gate.attempts
        again = f" at attempt {attempts}" if attempts > 1 else ""
        fresh = f"{at_start}. A fresh run of every command on the committed tree is green{again}."
        return " ".join(filter(None, [fresh, counter_proof_text(handed), refutation_claim(handed)]))
    if handed.gate.passed:
        return f"{at_start}. It is green now, but that alone does not prove the goal."
    if handed.number == 0:
        return f"{at_start}, and no iteration was better."
    better = before.failing_count - handed.gate.failing_count
    fewer = f", {count(better, 'failure')} fewer" if better > 0 and not before.passed else ""
    accepted = facts.result is not None and facts.result.reason.is_success
    verdict = "a person accepted it so" if accepted else "the goal is not met"
    return f"{at_start}. On the branch it is {handed.gate.in_words}{fewer}: {verdict}."


def _sessions(facts: RunFacts) -> Iterator[SessionCost]:
    groups = [(number, list(ones)) for number, ones in groupby(facts.iterations, key=lambda one: one.session)]
    for position, (number, ones) in enumerate(groups):
        usages = [usage for session, usage in _usages(facts) if session == number]
        last = position == len(groups) - 1
        state = (
            facts.result.reason.replace("_", " ") if facts.result else "running" if facts.running else "open"
        )
        yield SessionCost(
            number=number,
            calls=len(usages),
            usage=add_up(usages),
            seconds=sum(spent(one) for one in ones),
            fill=ones[-1].context_pct,
            ended=state if last else "restarted with a summary",
        )


def _flaky(steps: Sequence[Iteration]) -> tuple[FlakyTest, ...]:
    met: dict[str, list[int]] = {}
    excused: set[str] = set()
    for one in steps:
        forgiven = {finding.test for report in one.reports for finding in report.excused if finding.test}
        excused |= forgiven
        for test in sorted(flaky_tests(one) | forgiven):
            met.setdefault(test, []).append(one.number)
    return tuple(FlakyTest(test, tuple(numbers), test in excused) for test, numbers in sorted(met.items()))
