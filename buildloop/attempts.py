"""The iterations of a run as the attempts a diagnosis looks at, and the tests that two of them contradict."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.diagnosis.model import Attempt, FailureMode
from buildloop.models import GateReport, Iteration, Usage, Verdict
from buildloop.recovery.rerun.early_stop import may_stop_early
from buildloop.state import LoopState

HISTORY_FOR_DIAGNOSIS = 12


def attempts_since_redirect(state: LoopState) -> list[Attempt]:
    """The history a diagnosis looks at: what the agent did. A redirect gets a fair chance: what was before it
    is settled, but for the failure it was given for. If that stays, it need not be established anew."""
    attempts: list[Attempt] = []
    for one in state.iterations[1:][-HISTORY_FOR_DIAGNOSIS:]:
        attempts += attempts_of(one)
        if one.recovery and one.recovery.strategy.mode == FailureMode.INFINITE_LOOP:
            attempts = attempts[-1:]
    return attempts


def attempts_of(iteration: Iteration) -> list[Attempt]:
    """The gate runs of one iteration as attempts; reruns on the same tree only where they say something new."""
    kept: list[GateReport] = []
    for report in _plain(iteration.comparable):
        if kept and same_remainder(kept[-1], report):
            kept.pop()
        kept.append(report)
    return [_attempt(iteration, report, first=index == 0) for index, report in enumerate(kept)]


def same_remainder(earlier: GateReport, later: GateReport) -> bool:
    """Both red, and what still fails failed before: the later one is the better account of what is really wrong.
    Tests that failed only once are flaky, but they do not explain the rest."""
    if earlier.passed or later.passed:
        return False
    before, after = set(earlier.reading.failing), set(later.reading.failing)
    return before == after or bool(before & after)


def flaky_tests(iteration: Iteration) -> set[str]:
    """Tests that failed and passed on the one tree of this iteration. Only a gate that ran to its end can tell that
    a test it does not name passed; one that excused a quarantined test has seen it fail all the same."""
    failing = [_failing(report) for report in iteration.comparable]
    whole = [names for names, report in zip(failing, iteration.comparable, strict=True) if _ran_whole(report)]
    seen = set[str]().union(*failing)
    return {test for test in seen if any(test not in names for names in whole)}


def _plain(reports: Sequence[GateReport]) -> Sequence[GateReport]:
    """An excused green is no answer about the test that was excused, if there is another one. What a second agent's
    test found is no contradiction to the green before it: that test was not there yet."""
    refuted = [report for report in reports if report.refutation and not report.passed]
    if refuted:
        return refuted
    return [report for report in reports if not report.excused] or reports


def _failing(report: GateReport) -> set[str]:
    return {*report.reading.failing, *(finding.test for finding in report.excused if finding.test)}


def _ran_whole(report: GateReport) -> bool:
    if report.passed:
        return True
    return report.verdict is Verdict.FAILED and not any(may_stop_early(c.command) for c in report.commands)


def _attempt(iteration: Iteration, report: GateReport, *, first: bool) -> Attempt:
    agent = iteration.agent
    usage = agent.reply.usage if agent and agent.reply.keeps_context else Usage()
    return Attempt(
        passed=report.passed,
        reading=report.reading,
        exit_code=next((c.exit_code for c in report.commands if c.exit_code), 0),
        tree=report.tree,
        changed=first and agent is not None and agent.checkpoint.changed,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        context_tokens=usage.context_tokens,
        agent_status=agent.reply.outcome if agent else None,
    )
