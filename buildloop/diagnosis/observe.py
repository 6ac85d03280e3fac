"""A log as the judges need it: what the parsers read, and what bears on the failure mode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from buildloop.diagnosis.model import LogReading
from buildloop.diagnosis.signals import Scan, scan
from buildloop.gate.read import read_log, read_text


def observe_log(path: Path, exit_code: int | None = None) -> LogReading:
    with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        seen = scan(lines)
    return _with(read_log(path, exit_code), seen)


def observe_text(text: str, exit_code: int | None = None) -> LogReading:
    return _with(read_text(text, exit_code), scan(text.split("\n")))


def _with(reading: LogReading, seen: Scan) -> LogReading:
    return replace(reading, signals=seen.signals, own_names=seen.own_names)
