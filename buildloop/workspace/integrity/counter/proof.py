"""Runs the tests of the start on the new code, and the new code with other values, and says what came of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from buildloop.models import CounterProof, CounterVerdict, GateReport
from buildloop.workspace.integrity.check import Evidence
from buildloop.workspace.integrity.counter.call_forms import only_called_differently
from buildloop.workspace.integrity.counter.originals import Originals, originals
from buildloop.workspace.integrity.counter.variation import Varied, varied
from buildloop.workspace.integrity.counter.weigh import weigh, weigh_variation
from buildloop.workspace.integrity.counter.written_in import told_by_tests, tree_of
from buildloop.workspace.integrity.executed import Ran
from buildloop.workspace.integrity.model import Change
from buildloop.workspace.integrity.trees import blobs, changes_between
from buildloop.workspace.trial import standing_on

# Given a tree hash and the number of the attempt: the gate run on the workspace as it stands.
RunGate = Callable[[str, int], tuple[GateReport, Ran]]


def counter_proof(evidence: Evidence, run: RunGate, quarantined: Collection[str] = ()) -> CounterProof | None:
    """None where the test side is as it was and no input of a test is written into the product. Where the old tests
    cannot run because the product was renamed, they are run under its new names. An objection is raised only if it
    shows twice: a flaky test of the start must not cost an honest change its green."""
    root = Path(evidence.workspace.root)
    with blobs(root) as blob:
        changes = changes_between(root, evidence.workspace.start_commit, evidence.commit, blob)
        made = originals(evidence, changes, blob)
        others = varied(changes, told_by_tests(evidence, blob))
    proof = _unless_only_the_form(evidence, made, changes, run, quarantined, 1) if made else None
    if proof and proof.verdict is CounterVerdict.UNCLEAR and (again := _under_new_names(evidence, changes)):
        second = _unless_only_the_form(evidence, again, changes, run, quarantined, 3)
        proof = second.model_copy(update={"seconds": proof.seconds + second.seconds})
    if others and (proof is None or proof.verdict is not CounterVerdict.OVERTURNED):
        return _with_other_values(evidence, others, run, quarantined) or proof
    return proof


def _under_new_names(evidence: Evidence, changes: Sequence[Change]) -> Originals | None:
    with blobs(Path(evidence.workspace.root)) as blob:
        return originals(evidence, changes, blob, under_new_names=True)


def _unless_only_the_form(
    evidence: Evidence,
    made: Originals,
    changes: Sequence[Change],
    run: RunGate,
    quarantined: Collection[str],
    attempt: int,
) -> CounterProof:
    proof = _shown_twice(evidence, made, run, quarantined, attempt)
    if proof.verdict is not CounterVerdict.OVERTURNED:
        return proof
    if not only_called_differently(changes, made.restored, made.names):
        return proof
    why = "the old tests call functions in a form that they no longer have"
    return proof.model_copy(update={"verdict": CounterVerdict.UNCLEAR, "failing": (), "why": why})


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


def _with_other_values(
    evidence: Evidence, others: Sequence[Varied], run: RunGate, quarantined: Collection[str]
) -> CounterProof | None:
    tree, files = tree_of(evidence, others), [one.file for one in others]
    shown = None
    for attempt in (5, 6):
        with standing_on(evidence.workspace, tree, files):
            report, _ = run(tree, attempt)
        shown = weigh_variation(report, others, evidence.before, quarantined)
        if shown is None:
            return None
    return shown
