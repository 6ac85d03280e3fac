"""What was done to tests, configuration or gate in a run, and what was kept out of its commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from buildloop.models import CounterVerdict, Iteration


@dataclass(frozen=True, slots=True)
class Objected:
    """One objection of one iteration; `blocks` says whether it turned the gate red."""

    number: int
    text: str
    blocks: bool
    diff: str


def objected(steps: Sequence[Iteration]) -> Iterator[Objected]:
    for one in steps:
        said: set[str] = set()
        for found in (found for report in one.reports for found in report.tampering):
            if found.text not in said:
                said.add(found.text)
                yield Objected(one.number, found.text, found.blocks, found.diff.strip("\n"))
        for found_by in (report.refutation for report in one.reports if report.refutation):
            if found_by.refuted:
                texts = "; ".join(found_by.failing)
                tests = "\n\n".join(f"{test.path}\n{test.text}" for test in found_by.tests)
                yield Objected(
                    one.number, f"a test by {found_by.agent} for the goal fails: {texts}", True, tests
                )
        # Objections beyond those that are kept with their diffs.
        for finding in (finding for report in one.reports for finding in report.reading.findings):
            if finding.tool == "integrity" and finding.message not in said:
                said.add(finding.message)
                yield Objected(one.number, finding.message, True, "")


def refutation_claim(one: Iteration) -> str:
    """What a second agent's try says about the tree it could not refute, or that there was no try."""
    found = next((report.refutation for report in reversed(one.reports) if report.refutation), None)
    if found is None or found.refuted:
        return ""
    if not found.tried:
        return (
            f"Nobody tried to refute it: the second agent ({found.agent}) could not be asked ({found.why})."
        )
    return f"A second agent ({found.agent}) tried to write a test for the goal that fails, without success."


def counter_proof_text(one: Iteration) -> str:
    """What the tests of the start say about the tree; nothing where they were not changed."""
    proof = next((report.counter_proof for report in reversed(one.reports) if report.counter_proof), None)
    if proof is None:
        return ""
    changed = f"{len(proof.files)} file{'' if len(proof.files) == 1 else 's'} of the test side changed"
    if proof.verdict is CounterVerdict.UPHELD:
        return f"{changed}; the tests as they were at the start pass on the new code too."
    why = f" ({proof.why})" if proof.why else ""
    return f"{changed}; the tests as they were at the start cannot run on the new code{why}, so they were compared."


def kept_out(steps: Sequence[Iteration]) -> Iterator[tuple[int, str]]:
    """Secrets that were not committed, protected files that were put back, files that git cannot keep."""
    for one in steps:
        if one.agent is None:
            continue
        point = one.agent.checkpoint
        for secret in point.refused:
            where = f"{secret.file}, line {secret.line}" if secret.line else secret.file
            yield one.number, f"{where} holds a secret ({secret.kind}); the file was left out of the commit"
        for name in point.restored:
            yield one.number, f"{name} is protected and was put back as it was at the start"
        for name in point.unkept:
            yield one.number, f"{name} is a file that git cannot keep; it was left out of the commit"
