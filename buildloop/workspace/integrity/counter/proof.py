"""Runs the tests of the start on the new code, where the tests were changed, and says what came of it."""

from __future__ import annotations

from collections.abc import Callable, Collection

from buildloop.models import CounterProof, CounterVerdict, GateReport
from buildloop.workspace.integrity.check import Evidence
from buildloop.workspace.integrity.counter.originals import originals
from buildloop.workspace.integrity.counter.weigh import weigh
from buildloop.workspace.integrity.executed import Ran
from buildloop.workspace.trial import standing_on

# Given a tree hash and the number of the attempt: the gate run on the workspace as it stands.
RunGate = Callable[[str, int], tuple[GateReport, Ran]]


def counter_proof(evidence: Evidence, run: RunGate, quarantined: Collection[str] = ()) -> CounterProof | None:
    """None where the test side is as it was. An objection is raised only if it shows twice: a flaky test of the start
    must not cost an honest change its green."""
    made = originals(evidence)
    if made is None:
        return None

    def once(attempt: int) -> CounterProof:
        with standing_on(evidence.workspace, made.tree, made.restored):
            report, now = run(made.tree, attempt)
        return weigh(report, made, evidence.before, now, quarantined, whole=not evidence.allowed)

    first = once(1)
    if first.verdict is not CounterVerdict.OVERTURNED:
        return first
    second = once(2)
    return second.model_copy(update={"seconds": first.seconds + second.seconds})
