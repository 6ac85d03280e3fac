"""What a rerun of only the failing tests says about the whole gate."""

from __future__ import annotations

from dataclasses import replace

from buildloop.diagnosis.model import LogReading, TestCounts
from buildloop.models import GateReport, Verdict


def merge_rerun(first: GateReport, rerun: GateReport) -> GateReport:
    """The whole gate's report with the rerun's answers put in: what passed now is no longer failing."""
    if not rerun.passed:
        counts = _counts(first.reading, failed=len(rerun.reading.failing) or 1)
        return rerun.model_copy(update={"reading": replace(rerun.reading, counts=counts)})
    again = ", ".join(first.reading.failing)
    reading = LogReading(counts=_counts(first.reading, failed=0), tools=first.reading.tools)
    return first.model_copy(
        update={
            "verdict": Verdict.PASSED,
            "commands": rerun.commands,
            "reading": reading,
            "attempts": rerun.attempts,
            "explanation": f"Passed when run again on the same tree: {again}.",
            "tail": "",
        }
    )


def _counts(reading: LogReading, failed: int) -> TestCounts | None:
    counts = reading.counts
    return replace(counts, passed=counts.run - failed, failed=failed) if counts else None
