"""The identity of a failure: stable under line numbers, times, addresses, paths, ids and order."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from buildloop.diagnosis.known_packages import words
from buildloop.diagnosis.masks import normalise
from buildloop.diagnosis.model import Finding, LogReading
from buildloop.patterns import Regex

FINGERPRINT_VERSION = "2"
PACKAGE_MANAGERS = words(
    "npm pnpm yarn bun pip uv poetry pipenv pdm conda bundler gem composer apt apk dnf hex cpan"
)
TELLING_LINES = 5
# A summary line cut to the width of the terminal is cut elsewhere in another run.
CUT_SUMMARY = Regex(r"^((?:FAILED|ERROR) \S+) - .*(?:\.\.\.|…)$")
CUT_WORD = Regex(r"\S*(?:\.\.\.|…)$")


@lru_cache(maxsize=4096)  # a history is judged after every attempt, from its beginning
def fingerprint(finding: Finding) -> str:
    parts = (finding.test, finding.type, finding.message, finding.expected, finding.actual)
    return _digest(identity(part) for part in (*parts, *_whereabouts(finding)) if part)


def _whereabouts(finding: Finding) -> tuple[str, ...]:
    """A test names itself, a compiler names a file; package managers need a few lines."""
    if finding.test:
        return ()
    if finding.file:
        return (finding.file,)
    return finding.lines[:TELLING_LINES] if finding.tool in PACKAGE_MANAGERS else ()


def fingerprints(reading: LogReading) -> frozenset[str]:
    """The failures of a log as a set: order and repetition do not matter."""
    if reading.findings:
        return frozenset(fingerprint(finding) for finding in reading.findings)
    return frozenset(_digest([stated]) for line in reading.error_lines if (stated := identity(line)))


def fingerprint_reading(reading: LogReading) -> str:
    return _digest(sorted(fingerprints(reading)))


def same_failure(a: str, b: str) -> bool:
    """Whether two excerpts of logs state the same failures."""
    return _statements(a) == _statements(b)


def identity(text: str) -> str:
    """What `text` says about the failure, on one line."""
    lines = (CUT_WORD.sub("", CUT_SUMMARY.sub(r"\1", line.rstrip())) for line in text.splitlines())
    return " ".join(stated for line in lines if (stated := normalise(line)))


def _statements(excerpt: str) -> frozenset[str]:
    return frozenset(stated for line in excerpt.splitlines() if (stated := identity(line)))


def _digest(parts: Iterable[str]) -> str:
    import hashlib  # noqa: PLC0415 (OpenSSL takes its time to load, and one log alone needs no identity)

    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return f"{FINGERPRINT_VERSION}:{hashlib.sha256(joined).hexdigest()[:16]}"
