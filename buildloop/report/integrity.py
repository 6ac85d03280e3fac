"""What was done to tests, configuration or gate in a run, and what was kept out of its commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from buildloop.models import Iteration


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
        # Objections beyond those that are kept with their diffs.
        for finding in (finding for report in one.reports for finding in report.reading.findings):
            if finding.tool == "integrity" and finding.message not in said:
                said.add(finding.message)
                yield Objected(one.number, finding.message, True, "")


def kept_out(steps: Sequence[Iteration]) -> Iterator[tuple[int, str]]:
    """Secrets that were not committed, protected files that were put back."""
    for one in steps:
        if one.agent is None:
            continue
        point = one.agent.checkpoint
        for secret in point.refused:
            where = f"{secret.file}, line {secret.line}" if secret.line else secret.file
            yield one.number, f"{where} holds a secret ({secret.kind}); the file was left out of the commit"
        for name in point.restored:
            yield one.number, f"{name} is protected and was put back as it was at the start"
