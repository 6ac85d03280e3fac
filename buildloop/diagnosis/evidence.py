"""What a detector answers when it recognises its failure mode."""

from __future__ import annotations

from typing import NamedTuple

from buildloop.diagnosis.model import FailureMode


class Evidence(NamedTuple):
    """Reasons for one failure mode. `confidence` is 0..1; `lines` are read by people."""

    mode: FailureMode
    confidence: float
    lines: tuple[str, ...]
