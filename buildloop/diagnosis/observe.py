"""A log as the judges need it: what the parsers read, and what bears on the failure mode."""

from __future__ import annotations

import io
from pathlib import Path

from buildloop.diagnosis.model import LogReading
from buildloop.diagnosis.signals import scan, with_scan
from buildloop.gate.clean import clean_lines
from buildloop.gate.read import read_text
from buildloop.gate.skim import WHOLE, skim


def observe_log(path: Path, exit_code: int | None = None) -> LogReading:
    with path.open("rb") as stream:
        return _observe(skim(stream).decode("utf-8", "replace"), exit_code)


def observe_text(text: str, exit_code: int | None = None) -> LogReading:
    if len(text) > WHOLE:
        text = skim(io.BytesIO(text.encode("utf-8", "replace"))).decode("utf-8", "replace")
    return _observe(text, exit_code)


def _observe(text: str, exit_code: int | None) -> LogReading:
    return with_scan(read_text(text, exit_code), scan(clean_lines(text)))
