"""Whether a signal is what made the gate red, or only stands in the same log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from buildloop.diagnosis.model import LogReading, Signal, SignalKind

# Shorter texts are contained in too many lines to prove anything.
TELLING = 12


def causes(reading: LogReading, *kinds: SignalKind) -> list[Signal]:
    """The signals that the parsers also found to be failures, or that ended the log before any test failed.

    Set-up is full of complaints that stopped nothing: whatever was tested afterwards got past them.
    """
    stated = [text.strip() for text in _failures(reading)]
    return [
        signal
        for signal in reading.signals
        if signal.kind in kinds and (signal.late or not stated or _is_stated(signal.line, stated))
    ]


def _failures(reading: LogReading) -> Iterator[str]:
    """Where tests failed, what is said outside of them is only believed when the parsers rank it first."""
    findings = [finding for finding in reading.findings if finding.test] if reading.failing else []
    for finding in (*reading.findings[:1], *(findings or reading.findings)):
        yield finding.message
        yield from finding.lines
    if not findings:
        yield from reading.error_lines


def _is_stated(line: str, stated: Iterable[str]) -> bool:
    line = line.strip()
    return any(line in text or (len(text) > TELLING and text in line) for text in stated)
