"""Turns objections into a verdict: a green gate that was not earned is red, and says what must be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from buildloop.choices import IntegrityLevel
from buildloop.diagnosis.model import Finding
from buildloop.models import CounterProof, CounterVerdict, GateReport, Tampering, Verdict
from buildloop.redact import Redactor
from buildloop.workspace.git import git_or_none
from buildloop.workspace.integrity.check import Evidence, objections_to
from buildloop.workspace.integrity.model import Objection

DIFF_CHARS, DIFFS_CHARS = 3000, 9000
MOST_SHOWN = 20
MOST_NAMED = 5


# What a test lost does not matter for this green if the tests of the start pass too; it is lost for the future, so it
# is still noted. Tests that are gone, skipped or no longer reached block all the same.
EXCUSED_BY_RUNNING = frozenset(
    "weakened|values|data|replaced|unreadable|gate edited|gate kept|uncounted|selection|support".split("|")
)

Prove = Callable[[], CounterProof | None]


def check_integrity(
    report: GateReport,
    evidence: Evidence,
    level: IntegrityLevel,
    redact: Redactor = str,
    prove: Prove | None = None,
) -> GateReport:
    """The report with what was objected to; red where that blocks. A red one stays as it is and says so early.

    `prove` runs the tests of the start; it is asked only when the gate is green and nothing blocks for certain.
    """
    if level is IntegrityLevel.OFF:
        return report
    found = objections_to(evidence)
    if report.passed and prove is not None and not any(map(certain, found)) and (proof := prove()):
        report = report.model_copy(update={"counter_proof": proof})
        found = weighed(found, proof)
    found = [replace(one, text=redact(one.text)) for one in found]
    if level is IntegrityLevel.WARN:
        found = [replace(one, blocks=False) for one in found]
    noted = tuple(_with_diffs(found[:MOST_SHOWN], evidence, redact))
    report = report.model_copy(update={"tampering": noted})
    blocking = [one.text for one in found if one.blocks]
    return object_to(report, blocking) if report.passed and blocking else report


def weighed(found: Sequence[Objection], proof: CounterProof) -> list[Objection]:
    """The objections of the sources, corrected by what really ran."""
    if proof.verdict is CounterVerdict.OVERTURNED:
        blamed = proof.files[0] if len(proof.files) == 1 else ""
        shown = ", ".join(proof.files[:MOST_NAMED])
        green_with = f" (the gate is green only with the changed {shown})"
        texts = [text if text.startswith(proof.files) else text + green_with for text in proof.failing]
        return [*(Objection("counter-proof", blamed, text) for text in texts), *found]
    if proof.verdict is CounterVerdict.UPHELD:
        return [replace(one, blocks=one.blocks and certain(one)) for one in found]
    # A gate that lost nothing, ran as many tests as at the start and heard of no failure is the same gate.
    return [replace(one, blocks=one.blocks and one.rule != "gate kept") for one in found]


def certain(one: Objection) -> bool:
    return one.blocks and one.rule not in EXCUSED_BY_RUNNING


def object_to(report: GateReport, objections: Sequence[str]) -> GateReport:
    findings = tuple(Finding(message=text, tool="integrity", lines=(text,)) for text in objections)
    reading = replace(report.reading, findings=findings, error_lines=tuple(objections))
    explanation = f"The commands were green, but that was not earned: {'; '.join(objections[:MOST_SHOWN])}."
    return report.model_copy(
        update={"verdict": Verdict.FAILED, "reading": reading, "explanation": explanation}
    )


def _with_diffs(found: Sequence[Objection], evidence: Evidence, redact: Redactor) -> list[Tampering]:
    """Each file's change is shown once."""
    shown: set[str] = set()
    left, noted = DIFFS_CHARS, []
    for one in found:
        diff = (
            ""
            if one.file in shown or not one.file
            else redact(_diff(evidence, one.file))[: min(left, DIFF_CHARS)]
        )
        shown.add(one.file)
        left -= len(diff)
        noted.append(Tampering(rule=one.rule, file=one.file, text=one.text, blocks=one.blocks, diff=diff))
    return noted


def _diff(evidence: Evidence, file: str) -> str:
    start, root = evidence.workspace.start_commit, Path(evidence.workspace.root)
    options = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", start, evidence.commit, "--")
    return git_or_none(root, *options, f":(literal,top){file}") or ""
