"""Reads what a gate log says. The one door to the parsers."""

from __future__ import annotations

import re
from pathlib import Path

from buildloop.diagnosis.model import Finding, LogReading, TestCounts

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
ERROR = re.compile(r"^(E\s+\S|\w*(Error|Exception|AssertionError)\b.*:|FAIL(ED)?[: ]|error(\[\w+\])?:)")
LOCATION = re.compile(r'([\w./-]+\.\w{1,4}):(\d+)|File "([^"]+)", line (\d+)')
PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+::\S+|\S+\.py)", re.M)
UNITTEST_FAILED = re.compile(r"^(?:FAIL|ERROR): (\S+) \(([\w.]+)\)", re.M)
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
PYTEST_SUMMARY = re.compile(r"(\d+) (passed|failed|skipped|error)")


def read_log(path: Path, exit_code: int | None = None) -> LogReading:
    return read_text(path.read_text(encoding="utf-8", errors="replace"), exit_code)


def read_text(text: str, exit_code: int | None = None) -> LogReading:
    plain = ANSI.sub("", text)
    if exit_code == 0:
        return LogReading(counts=_counts(plain, ()))
    failing = tuple(dict.fromkeys(PYTEST_FAILED.findall(plain) + [b for _, b in UNITTEST_FAILED.findall(plain)]))
    lines = tuple(line.rstrip() for line in plain.splitlines() if ERROR.match(line))[:20]
    findings = tuple(Finding(message=test, test=test, lines=(test,)) for test in failing)
    if not findings and lines:
        findings = (Finding(message=lines[0], lines=lines),)
    return LogReading(findings, _counts(plain, failing), failing, lines)


def _counts(plain: str, failing: tuple[str, ...]) -> TestCounts | None:
    if ran := UNITTEST_RAN.search(plain):
        total = int(ran.group(1))
        return TestCounts(total, total - len(failing), len(failing), 0)
    found = {word: int(n) for n, word in PYTEST_SUMMARY.findall(plain)}
    if not found:
        return None
    failed, passed = found.get("failed", 0) + found.get("error", 0), found.get("passed", 0)
    return TestCounts(passed + failed, passed, failed, found.get("skipped", 0))
