"""What a detector answers when it recognises its failure mode."""

from __future__ import annotations

from dataclasses import dataclass

from buildloop.diagnosis.model import FailureMode


@dataclass(frozen=True, slots=True)
class Evidence:
    """Reasons for one failure mode. `confidence` is 0..1; `lines` are read by people."""

    mode: FailureMode
    confidence: float
    lines: tuple[str, ...]
