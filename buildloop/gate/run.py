"""Runs the user's gate commands on the workspace and reports what they said."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from buildloop.diagnosis.model import LogReading, TestCounts
from buildloop.diagnosis.observe import observe_log
from buildloop.models import CommandResult, GateReport, Verdict
from buildloop.process import ProcessResult, run_process
from buildloop.redact import Redactor
from buildloop.text import plain_text

SHELL = "/bin/sh"
NOT_STARTED = (126, 127)
FINDINGS_KEPT = 200
FAILING_KEPT = 2000
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


def run_gate(commands: Sequence[str], setup: GateSetup, tree: str, name: str = "gate") -> GateReport:
    """Run all commands, also after a red one: the agent shall see everything that is wrong."""
    results, readings = [], []
    for number, command in enumerate(commands, start=1):
        log = setup.output_dir / (f"{name}.log" if number == 1 else f"{name}-{number}.log")
        result = _run_command(command, setup, log)
        results.append(result)
        readings.append(observe_log(log, result.exit_code))
    verdict = max((result.verdict for result in results), key=SEVERITY.index)
    return GateReport(
        verdict=verdict,
        tree=tree,
        commands=tuple(results),
        reading=_bounded(relative_to(merge_readings(readings), setup.workdir)),
        explanation=_explain(results, setup.timeout),
        tail="" if verdict is Verdict.PASSED else _tail(setup.run_dir, results),
    )


def merge_readings(readings: Sequence[LogReading]) -> LogReading:
    counts = [reading.counts for reading in readings if reading.counts is not None]
    total = TestCounts(
        run=sum(c.run for c in counts),
        passed=sum(c.passed for c in counts),
        failed=sum(c.failed for c in counts),
        skipped=sum(c.skipped for c in counts),
    )
    return LogReading(
        findings=tuple(finding for reading in readings for finding in reading.findings),
        counts=total if counts else None,
        failing=tuple(dict.fromkeys(test for reading in readings for test in reading.failing)),
        error_lines=tuple(line for reading in readings for line in reading.error_lines)[:20],
        signals=tuple(signal for reading in readings for signal in reading.signals),
        own_names=frozenset().union(*(reading.own_names for reading in readings)),
        tools=tuple(dict.fromkeys(tool for reading in readings for tool in reading.tools)),
    )


def _run_command(command: str, setup: GateSetup, log: Path) -> CommandResult:
    result = run_process(
        [SHELL, "-c", command],
        cwd=setup.workdir,
        environment=setup.environment,
        mark=setup.mark,
        stdout=log,
        timeout=setup.timeout,
        redact=setup.redact,
    )
    return CommandResult(
        command=setup.redact(command),
        verdict=_verdict(command, result, setup),
        exit_code=result.exit_code,
        seconds=round(result.seconds, 3),
        log=log.relative_to(setup.run_dir).as_posix(),
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


def relative_to(reading: LogReading, workdir: Path) -> LogReading:
    """Paths inside the workspace as the repository knows them: shorter, and the same in every run."""
    prefix = f"{workdir}/"

    def short(text: str) -> str:
        return text.replace(prefix, "")

    findings = tuple(
        replace(
            finding,
            message=short(finding.message),
            file=short(finding.file) if finding.file else None,
            lines=tuple(map(short, finding.lines)),
        )
        for finding in reading.findings
    )
    signals = tuple(replace(signal, line=short(signal.line)) for signal in reading.signals)
    return replace(
        reading, findings=findings, signals=signals, error_lines=tuple(map(short, reading.error_lines))
    )


def _bounded(reading: LogReading) -> LogReading:
    """A result is kept and passed around; the full list stays in the log."""
    return replace(reading, findings=reading.findings[:FINDINGS_KEPT], failing=reading.failing[:FAILING_KEPT])


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
