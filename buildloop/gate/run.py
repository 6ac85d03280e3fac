"""Runs the user's gate commands on the workspace and reports what they said."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildloop.diagnosis.model import LogReading
from buildloop.gate.green import green_log_of, keep_green_log
from buildloop.gate.report import (
    bounded,
    masked_reports,
    merge_readings,
    pytest_refused_report,
    read_command,
    relative_to,
    reports_left,
    with_pytest_report,
)
from buildloop.models import CommandResult, GateReport, Verdict
from buildloop.process import ProcessResult, run_process
from buildloop.redact import Redactor
from buildloop.sandbox import NO_SANDBOX, Sandbox
from buildloop.text import plain_text

SHELL = "/bin/sh"
NOT_STARTED = (126, 127)
TAIL_BYTES, TAIL_LINES, TAIL_LINE_CHARS = 16_384, 60, 400
SHELL_WORDS = frozenset(
    {"cd", "test", "[", "{", "(", "!", "if", "for", "while", "case", "set", "export", "exec", "time", ":"}
    | {"true", "false", ".", "command", "eval", "trap", "ulimit", "umask", "unset", "wait", "until", "exit"}
)

# The worst verdict of several commands is the gate's.
SEVERITY = (Verdict.PASSED, Verdict.FAILED, Verdict.TIMED_OUT, Verdict.COULD_NOT_RUN)


@dataclass(frozen=True, slots=True)
class GateSetup:
    """Where and how the gate runs: everything but the commands and the tree."""

    workdir: Path
    run_dir: Path
    output_dir: Path
    environment: Mapping[str, str]
    timeout: float
    mark: str
    redact: Redactor
    repo_id: str
    green_logs: Path
    junit: tuple[str, ...] = ()
    sandbox: Sandbox = NO_SANDBOX


def run_gate(commands: Sequence[str], setup: GateSetup, tree: str, name: str = "gate") -> GateReport:
    """Run all commands, also after a red one: the agent shall see everything that is wrong."""
    results, readings = [], []
    for number, command in enumerate(commands, start=1):
        stem = name if number == 1 else f"{name}-{number}"
        result, reading = _run_command(command, setup, stem)
        results.append(result)
        readings.append(reading)
    verdict = max((result.verdict for result in results), key=SEVERITY.index)
    return GateReport(
        verdict=verdict,
        tree=tree,
        commands=tuple(results),
        reading=bounded(relative_to(merge_readings(readings), setup.workdir)),
        explanation=_explain(results, setup.timeout),
        tail="" if verdict is Verdict.PASSED else _tail(setup.run_dir, results),
    )


def _run_command(command: str, setup: GateSetup, stem: str) -> tuple[CommandResult, LogReading]:
    log, report, started = (
        setup.output_dir / f"{stem}.log",
        setup.output_dir / f"{stem}.junit.xml",
        time.time(),
    )
    result = _start(command, setup, log, with_pytest_report(setup.environment, report))
    if result.exit_code != 0 and pytest_refused_report(log):
        result = _start(command, setup, log, setup.environment)
    verdict = _verdict(command, result, setup)
    reports = masked_reports(report, reports_left(setup.workdir, setup.junit, started), setup.redact)
    green = green_log_of(setup.green_logs, setup.repo_id, command)
    reading = read_command(log, result.exit_code, reports, green if green.exists() else None)
    if verdict is Verdict.PASSED:
        keep_green_log(log, green)
    ran = CommandResult(
        command=setup.redact(command),
        verdict=verdict,
        exit_code=result.exit_code,
        seconds=round(result.seconds, 3),
        log=log.relative_to(setup.run_dir).as_posix(),
    )
    return ran, reading


def _start(command: str, setup: GateSetup, log: Path, environment: Mapping[str, str]) -> ProcessResult:
    return run_process(
        [SHELL, "-c", command],
        cwd=setup.workdir,
        environment=environment,
        mark=setup.mark,
        stdout=log,
        timeout=setup.timeout,
        redact=setup.redact,
        sandbox=setup.sandbox.also(setup.output_dir),
    )


def _verdict(command: str, result: ProcessResult, setup: GateSetup) -> Verdict:
    if result.timed_out:
        return Verdict.TIMED_OUT
    if result.exit_code == 0:
        return Verdict.PASSED
    if result.exit_code in NOT_STARTED and missing_program(command, setup.workdir, setup.environment):
        return Verdict.COULD_NOT_RUN
    return Verdict.FAILED


def missing_program(command: str, workdir: Path, environment: Mapping[str, str]) -> str | None:
    """The command's own program, if it cannot be started. A tool missing further in is a red gate."""
    program = first_program(command)
    if program is None or program in SHELL_WORDS or program.startswith(("(", "{", "<", ">", "|", "&", ";")):
        return None
    if "/" in program:
        return None if shutil.which(str(workdir / program)) else program
    return None if shutil.which(program, path=environment.get("PATH")) else program


def first_program(command: str) -> str | None:
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return None
    return next((word for word in words if "=" not in word.split("/")[0]), None)


def _tail(run_dir: Path, results: Sequence[CommandResult]) -> str:
    red = next(result for result in results if result.verdict is not Verdict.PASSED)
    with (run_dir / red.log).open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = plain_text(stream.read().decode("utf-8", "replace")).splitlines()
    return "\n".join(line[:TAIL_LINE_CHARS] for line in lines[-TAIL_LINES:])


def _explain(results: Sequence[CommandResult], timeout: float) -> str:
    sentences = []
    for result in results:
        if result.verdict is Verdict.TIMED_OUT:
            sentences.append(f"'{result.command}' did not finish within {timeout:g} s and was stopped.")
        elif result.verdict is Verdict.COULD_NOT_RUN:
            program = first_program(result.command)
            sentences.append(
                f"'{result.command}' could not be run: {program} was not found or is not executable."
            )
    return " ".join(sentences)
