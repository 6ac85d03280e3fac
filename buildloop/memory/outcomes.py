"""What a run teaches: which failures are red, and which went green and between which commits. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from buildloop.attempts import flaky_tests
from buildloop.diagnosis.categories import FAMILY_OF, Family, class_of
from buildloop.diagnosis.fingerprint import fingerprint
from buildloop.diagnosis.known_packages import words
from buildloop.diagnosis.model import ErrorClass, FailureMode, Finding, LogReading
from buildloop.fold import Fold
from buildloop.memory.model import Failure, Moment
from buildloop.memory.words import message_of, test_of
from buildloop.models import GateReport, Iteration, Verdict
from buildloop.redact import Redactor
from buildloop.state import LoopState

MOST_FAILURES = 100
LINTERS = words(
    "eslint ruff prettier black isort rustfmt rubocop psalm ktlint hadolint markdownlint luacheck biome lint "
    "pre-commit bandit shellcheck phpstan"
)
STAGES: Mapping[Family, str] = {
    Family.TESTS: "test",
    Family.COMPILER: "build",
    Family.PACKAGES: "install",
    Family.AGENT: "agent",
    Family.PROGRAM: "build",
}


@dataclass(frozen=True, slots=True)
class Open:
    """A failure that was red when it was last heard of. Commits are those of the trees it was red on."""

    finding: Finding
    first_red: str
    last_red: str
    at: Moment
    tests_run: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the last iteration did to an open failure. `fixed` is None where the gate could not tell; `direct` says
    that the iteration began on a tree where the failure is known to be red, so that its change is what mattered."""

    fingerprint: str
    failure: Open
    fixed: bool | None
    direct: bool = True


def red_findings(report: GateReport) -> dict[str, Finding]:
    """The failures of a red gate by fingerprint: what was parsed, never a line that merely contains "error". That
    the agent tampered with the gate is no failure of the code."""
    if report.passed or _tampered(report):
        return {}
    reading = report.reading
    stated = reading.findings or tuple(Finding(message=line) for line in reading.error_lines)
    return {fingerprint(finding): finding for finding in stated[:MOST_FAILURES]}


def as_failure(finding: Finding, mode: FailureMode, redact: Redactor) -> Failure:
    """Masked before it is normalised: half a token no longer looks like one."""
    masked = replace(
        finding,
        message=redact(finding.message),
        test=redact(finding.test) if finding.test else None,
        file=redact(finding.file) if finding.file else None,
        lines=tuple(map(redact, finding.lines[:1])),
    )
    return Failure(
        fingerprint=fingerprint(finding),
        error_class=finding_class(finding),
        mode=mode,
        test=test_of(masked),
        message=message_of(masked),
    )


def finding_class(finding: Finding) -> ErrorClass:
    return class_of(LogReading(findings=(finding,)))


def stage_of(finding: Finding) -> str:
    """Where in the work a failure belongs, by the tool that reported it."""
    if finding.tool in LINTERS:
        return "lint"
    return STAGES[Family.TESTS if finding.test else FAMILY_OF.get(finding.tool, Family.PROGRAM)]


@dataclass(frozen=True, slots=True)
class _Walk:
    """What is known after an iteration: `head` is the commit its gate judged, `stood` where the next one begins."""

    run: str
    start: str
    head: str
    stood: str
    known: Mapping[str, Open] = field(default_factory=dict)
    outcomes: tuple[Outcome, ...] = ()
    shaky: frozenset[str] = frozenset()


def last_outcomes(state: LoopState) -> list[Outcome]:
    """What became of each open failure in the run's last iteration."""
    start = state.workspace.start_commit
    return list(_walk(state.iterations, str(state.request.run_id), start).outcomes)


def _begin(run: str, start: str) -> _Walk:
    return _Walk(run, start, start, start)


def _after(walk: _Walk, iterations: Sequence[Iteration], place: int) -> _Walk:
    one = iterations[place]
    shaky, head = walk.shaky | flaky_tests(one), one.head or walk.head
    red = red_findings(one.gate)
    outcomes = tuple(
        Outcome(print_, failure, _fixed(print_, failure, one, red), direct=failure.last_red == walk.stood)
        for print_, failure in walk.known.items()
        if failure.finding.test not in shaky
    )
    known = {outcome.fingerprint: outcome.failure for outcome in outcomes if not outcome.fixed}
    known = _with_red(known, one, red, head, walk.run, shaky)
    stood = head
    if one.recovery and one.recovery.back_to:
        stood = one.recovery.back_to
        known = _red_at(iterations[: place + 1], walk.start, stood, known)
    return _Walk(walk.run, walk.start, head, stood, known, outcomes, shaky)


_walk: Fold[Iteration, _Walk] = Fold(_begin, _after)


def _red_at(
    iterations: Sequence[Iteration], start: str, commit: str, known: Mapping[str, Open]
) -> dict[str, Open]:
    """After the work tree was put back: a failure that came later is gone with the change that brought it, which is
    nobody's fix; one that was red there stands where it stood."""
    head: str = start
    there: Iteration | None = None
    for one in iterations:
        head = one.head or head
        there = one if head == commit else there
    red = red_findings(there.gate) if there else {}
    return {
        print_: replace(failure, first_red=commit, last_red=commit)
        for print_, failure in known.items()
        if print_ in red
    }


def _with_red(
    known: Mapping[str, Open],
    one: Iteration,
    red: Mapping[str, Finding],
    commit: str,
    run: str,
    shaky: Collection[str],
) -> dict[str, Open]:
    """A test that was seen to be flaky in this run can neither be broken nor mended in a way that one gate proves."""
    counts = one.gate.reading.counts
    at = Moment(run=run, session=one.session, iteration=one.number)
    after = dict(known)
    for print_, finding in red.items():
        if finding.test in shaky:
            continue
        fresh = Open(finding, commit, commit, at, counts.run if counts else None)
        old = known.get(print_)
        after[print_] = replace(fresh, first_red=old.first_red) if old else fresh
    return after


def _fixed(print_: str, failure: Open, one: Iteration, red: Mapping[str, Finding]) -> bool | None:
    """Green is proven by a green gate, or in a red one by as many tests as before and this one not among the
    failing. A runner that stopped early, a tree nobody changed or a gate that was overruled prove nothing."""
    report, test = one.gate, failure.finding.test
    if one.agent is None or not one.agent.checkpoint.changed:
        return None
    if report.passed:
        return None if test in {finding.test for finding in report.excused if finding.test} else True
    if print_ in red or (test and test in report.reading.failing):
        return False
    counts = report.reading.counts
    complete = counts is not None and failure.tests_run is not None and counts.run >= failure.tests_run
    told = report.verdict is Verdict.FAILED and bool(red) and not report.explanation
    return True if test and complete and told else None


def _tampered(report: GateReport) -> bool:
    return any(finding.tool == "integrity" for finding in report.reading.findings)
