"""Untrusted text made fit for people: no terminal codes, no control characters."""

from __future__ import annotations

from buildloop.patterns import Regex

ESCAPES = Regex(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
CONTROLS = Regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain_text(text: str) -> str:
    """`text` without escape sequences and control characters; newlines and tabs stay."""
    return CONTROLS.sub("", ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def one_line(text: str, limit: int = 200) -> str:
    flat = " ".join(plain_text(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
