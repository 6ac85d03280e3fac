"""What gate commands said: their logs and the JUnit reports they left, less what they also say when green."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from buildloop.diagnosis.model import LogReading, TestCounts
from buildloop.diagnosis.observe import observe_log
from buildloop.files import write_atomic
from buildloop.gate.junit import merge, read_junit
from buildloop.gate.noise import templates_of_log, without_noise
from buildloop.redact import Redactor

PYTEST_OPTIONS = "PYTEST_ADDOPTS"
REFUSED_BY_PYTEST = b"unrecognized arguments: --junitxml"
ERROR_LINES_KEPT = 20
FINDINGS_KEPT = 200
FAILING_KEPT = 2000
# More than any runner reports; the log tells the rest.
LARGEST_REPORT = 64 * 2**20


def with_pytest_report(environment: Mapping[str, str], report: Path) -> dict[str, str]:
    """Has any pytest inside the gate write a JUnit report, without touching the user's command or files."""
    given = environment.get(PYTEST_OPTIONS, "")
    option = shlex.quote(f"--junitxml={report}")
    return {**environment, PYTEST_OPTIONS: f"{given} {option}".strip()}


def pytest_refused_report(log: Path) -> bool:
    """Whether the option itself broke the command: its project has switched pytest's reports off."""
    with log.open("rb") as stream:
        return REFUSED_BY_PYTEST in stream.read(2**16)


def reports_left(workdir: Path, patterns: Sequence[str], since: float) -> list[Path]:
    """The JUnit files the command wrote just now; older ones tell of another tree, and links lead out of it."""
    root = workdir.resolve()
    found = [
        path
        for pattern in patterns
        for path in sorted(workdir.glob(pattern))
        if path.is_file() and not path.is_symlink() and path.resolve().is_relative_to(root)
    ]
    return [path for path in found if path.stat().st_mtime >= since]


def masked_reports(own: Path, left: Sequence[Path], redact: Redactor) -> list[Path]:
    """The reports without secrets, beside the log: tests print them, and runners write down what tests print."""
    found = []
    for number, path in enumerate([own, *left]):
        text = _plain_content(path)
        if number == 0 and text is None:
            path.unlink(missing_ok=True)  # a link, perhaps, to something that is none of ours to read
        if text is None:
            continue
        target = (
            own if number == 0 else own.with_name(f"{own.name.removesuffix('.junit.xml')}-{number}.junit.xml")
        )
        write_atomic(target, redact(text), raw=True)
        found.append(target)
    return found


def _plain_content(path: Path) -> str | None:
    """The text of a plain file of bearable size; None for anything else, such as a link, a pipe or a device."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_REPORT:
            return None
        return stream.read().decode("utf-8", "surrogateescape")


def read_command(log: Path, exit_code: int, reports: Sequence[Path], green_log: Path | None) -> LogReading:
    reading = merge(observe_log(log, exit_code), read_junit(reports))
    if exit_code == 0:
        return replace(reading, findings=(), failing=(), error_lines=())
    return without_noise(reading, templates_of_log(green_log)) if green_log else reading


def merge_readings(readings: Sequence[LogReading]) -> LogReading:
    """Several commands as one gate."""
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
        error_lines=tuple(line for reading in readings for line in reading.error_lines)[:ERROR_LINES_KEPT],
        signals=tuple(signal for reading in readings for signal in reading.signals),
        own_names=frozenset[str]().union(*(reading.own_names for reading in readings)),
        tools=tuple(dict.fromkeys(tool for reading in readings for tool in reading.tools)),
    )


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
    error_lines = tuple(map(short, reading.error_lines))
    return replace(reading, findings=findings, signals=signals, error_lines=error_lines)


def bounded(reading: LogReading) -> LogReading:
    """A result is kept and passed around; the full list stays in the log."""
    return replace(reading, findings=reading.findings[:FINDINGS_KEPT], failing=reading.failing[:FAILING_KEPT])
