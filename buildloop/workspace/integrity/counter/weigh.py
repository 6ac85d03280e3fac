"""What the tests of the start say about the new code, as a verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from buildloop.diagnosis.model import Finding
from buildloop.models import CounterProof, CounterVerdict, GateReport, Verdict
from buildloop.text import one_line
from buildloop.workspace.integrity.counter.originals import Originals
from buildloop.workspace.integrity.counter.unrunnable import could_not_run, names_a_lost_file
from buildloop.workspace.integrity.counter.variation import Varied
from buildloop.workspace.integrity.executed import Ran, missing_tests, not_run

MOST_NAMED = 10


def weigh(
    report: GateReport,
    made: Originals,
    before: Ran,
    now: Ran,
    quarantined: Collection[str],
    *,
    whole: bool = True,
) -> CounterProof:
    """`now` is what ran this time. `whole` says that no test may be changed: then all of the start must have run."""
    seconds, files = report.seconds, made.restored
    if report.verdict is Verdict.PASSED:
        fewer = tuple(_fewer(before, now)) if whole else ()
        verdict = CounterVerdict.OVERTURNED if fewer else CounterVerdict.UPHELD
        return CounterProof(verdict=verdict, files=files, failing=fewer, seconds=seconds)
    if report.verdict is not Verdict.FAILED:
        return _unclear(made, seconds, report.explanation)
    wrong = tuple(dict.fromkeys(_wrong_answers(report, made, before, quarantined)))
    if wrong:
        return CounterProof(
            verdict=CounterVerdict.OVERTURNED, files=files, failing=wrong[:MOST_NAMED], seconds=seconds
        )
    return _unclear(made, seconds, _first_line(report))


def _unclear(made: Originals, seconds: float, why: str) -> CounterProof:
    return CounterProof(
        verdict=CounterVerdict.UNCLEAR, files=made.restored, seconds=seconds, why=one_line(why)
    )


def _fewer(before: Ran, now: Ran) -> Iterator[str]:
    for one in not_run(before, now):
        yield f"with the tests as they were at the start, {one.text}"
    for test in missing_tests(before, now)[:MOST_NAMED]:
        yield f"{test}, as it was at the start, does not run on the new code"


def _wrong_answers(
    report: GateReport, made: Originals, before: Ran, quarantined: Collection[str]
) -> Iterator[str]:
    reading = report.reading
    known = {line.strip() for line in before.said}
    shown = (*reading.error_lines, *report.tail.splitlines())
    if names_a_lost_file(shown, made.lost) and not any(
        f.test and f.tool == "junit" for f in reading.findings
    ):
        return
    told = reading.findings or tuple(Finding(message=line, lines=shown) for line in shown[-1:])
    for finding in told:
        if finding.test in quarantined or could_not_run(finding, made.lost, known):
            continue
        if any(could_not_run(Finding(message=line), made.lost, known) for line in _about(finding, shown)):
            continue
        yield _sentence(finding)


def _about(finding: Finding, lines: Sequence[str]) -> list[str]:
    """A finding without a test of its own is explained by the lines around it."""
    return [] if finding.test else list(lines)


def _sentence(finding: Finding) -> str:
    who = f"{finding.test}, as it was at the start," if finding.test else "the gate as it was at the start"
    return f"{who} fails on the new code: {one_line(finding.message)}"


def _first_line(report: GateReport) -> str:
    reading = report.reading
    return next(iter(reading.error_lines), "") or next((f.message for f in reading.findings), "")


def weigh_variation(
    report: GateReport, others: Sequence[Varied], before: Ran, quarantined: Collection[str]
) -> CounterProof | None:
    """Overturned where, without the tests' own inputs in the product, at least half of what failed at the start fails
    again."""
    reading = report.reading
    if report.verdict is not Verdict.FAILED:
        return None
    fewer = before.counts and reading.counts and reading.counts.failed * 2 < before.counts.failed
    failing = [one for one in reading.findings if one.test not in quarantined or not one.test]
    if fewer or any(could_not_run(one, (), ()) for one in failing) or (reading.findings and not failing):
        return None
    files = tuple(one.file for one in others)
    values = ", ".join(dict.fromkeys(value for one in others for value in one.values[:MOST_NAMED]))
    why = next((f"{one.test}: {one_line(one.message)}" for one in failing if one.test), _first_line(report))
    said = (
        f"{files[0]} knows the tests' own inputs ({values}): with others in the same places, the gate is red ({why})."
        " Write the rule that gives the answers, not the answers"
    )
    return CounterProof(
        verdict=CounterVerdict.OVERTURNED, files=files, failing=(said,), seconds=report.seconds
    )
