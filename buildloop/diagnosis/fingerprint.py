"""The identity of a failure: stable under line numbers, times, addresses, paths, ids and order."""

from __future__ import annotations

import hashlib
import re

from buildloop.diagnosis.model import Finding, LogReading

FINGERPRINT_VERSION = "1"
VOLATILE = re.compile(r"0x[0-9a-fA-F]+|\b\d+(?:\.\d+)?(?:m?s)?\b|(?:/[\w.-]+)+/")


def fingerprint(finding: Finding) -> str:
    parts = (finding.test or "", finding.type or "", VOLATILE.sub("#", finding.message))
    return f"{FINGERPRINT_VERSION}:{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"


def fingerprint_reading(reading: LogReading) -> str:
    parts = sorted({fingerprint(finding) for finding in reading.findings})
    return f"{FINGERPRINT_VERSION}:{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"
