"""Untrusted text made fit for people: no terminal codes, no control characters."""

from __future__ import annotations

import re

from buildloop.patterns import Regex

# CSI (colours, cursor), OSC and APC (titles, links, stamps of CI systems), character sets, two-byte ones.
ESCAPES = Regex(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]_][^\x07\x1b]*(?:\x07|\x1b\\)?|[()#][0-9A-Za-z]|[@-Z\\^=>78c])"
)
# Also what reverses text: a line must not read as something that it does not say.
CONTROLS = Regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


# Bytes that were no UTF-8 (a file name, a line of a diff), and halves of characters that JSON can spell.
NOT_WRITABLE = Regex(r"[\ud800-\udfff]")


def writable(text: str) -> str:
    """`text` as it can be stored and shown anywhere: what is no character is spelled out, like \\xff."""
    return text if text.isascii() else NOT_WRITABLE.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    number = ord(found.group())
    return f"\\x{number - 0xDC00:02x}" if 0xDC80 <= number <= 0xDCFF else f"\\u{number:04x}"


def plain_text(text: str) -> str:
    """`text` without escape sequences and control characters; newlines and tabs stay."""
    return CONTROLS.sub("", ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def one_line(text: str, limit: int = 200) -> str:
    flat = " ".join(plain_text(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def first_line(text: str) -> str:
    """The first line that says anything."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
