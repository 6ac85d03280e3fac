"""Runs the tests of the start on the new code, where the tests were changed, and says what came of it."""

from __future__ import annotations

from collections.abc import Callable, Collection

from buildloop.models import CounterProof, CounterVerdict, GateReport
from buildloop.workspace.integrity.check import Evidence
from buildloop.workspace.integrity.counter.originals import Originals, originals
from buildloop.workspace.integrity.counter.weigh import weigh
from buildloop.workspace.integrity.executed import Ran
from buildloop.workspace.trial import standing_on

# Given a tree hash and the number of the attempt: the gate run on the workspace as it stands.
RunGate = Callable[[str, int], tuple[GateReport, Ran]]


def counter_proof(evidence: Evidence, run: RunGate, quarantined: Collection[str] = ()) -> CounterProof | None:
    """None where the test side is as it was. Where the old tests cannot run because the product was renamed, they are
    run under its new names. An objection is raised only if it shows twice: a flaky test of the start must not cost an
    honest change its green."""
    made = originals(evidence)
    if made is None:
        return None
    proof = _shown_twice(evidence, made, run, quarantined, 1)
    if proof.verdict is CounterVerdict.UNCLEAR and (again := originals(evidence, under_new_names=True)):
        second = _shown_twice(evidence, again, run, quarantined, 3)
        proof = second.model_copy(update={"seconds": proof.seconds + second.seconds})
    return proof


def _shown_twice(
    evidence: Evidence, made: Originals, run: RunGate, quarantined: Collection[str], attempt: int
) -> CounterProof:
    def once(attempt: int) -> CounterProof:
        with standing_on(evidence.workspace, made.tree, made.restored):
            report, now = run(made.tree, attempt)
        return weigh(report, made, evidence.before, now, quarantined, whole=not evidence.allowed)

    first = once(attempt)
    if first.verdict is not CounterVerdict.OVERTURNED:
        return first
    second = once(attempt + 1)
    return second.model_copy(update={"seconds": first.seconds + second.seconds})
