"""Runs gate commands the plain way: one after the other, all output into one log, stop at the first red one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildloop.environment import child_environment
from buildloop.process import run_process
from buildloop.redact import redactor

MARK = "gauntlet"


@dataclass(frozen=True, slots=True)
class GateRun:
    passed: bool
    log: str


def environment_for(workdir: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    return child_environment(os.environ, workdir, extra or {})


def run_commands(
    commands: Sequence[str],
    workdir: Path,
    log: Path,
    timeout: float,
    extra: Mapping[str, str] | None = None,
) -> GateRun:
    log.parent.mkdir(parents=True, exist_ok=True)
    text = ""
    for command in commands:
        result = run_process(
            ["/bin/sh", "-c", command],
            cwd=workdir,
            environment=environment_for(workdir, extra),
            mark=MARK,
            stdout=log,
            timeout=timeout,
            redact=redactor({}),
        )
        text += log.read_text(encoding="utf-8", errors="replace")
        if result.exit_code != 0 or result.timed_out:
            return GateRun(False, text)
    return GateRun(True, text)
