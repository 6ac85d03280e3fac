"""Makes the text of a log into the lines that a person would see, without a CI system's wrapping."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from buildloop.patterns import Regex
from buildloop.text import ESCAPES

MAX_LINE = 4000
GO_EVENT = '"Action":"output"'

# What is left of colours when a log was copied from a page that dropped the escape character.
RESIDUE = Regex(r"\[(?:\d{1,3}(?:;\d{1,3}){0,4})?[mK]")
RESIDUE_SEEN = 5
RESIDUE_SAMPLE = 200_000
CONTROL = Regex(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")
STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z"

# Written by the CI system for itself.
MARKERS = Regex(r"(?:travis_(?:fold|time):|section_(?:start|end):\d)[^ ]*")

# A wrapper's prefix, and the share of lines that must carry it before it counts as one: a full timestamp is
# unmistakable, `web | ` or `12:00:00 ` may also be what the program itself prints.
PREFIXES: tuple[tuple[Regex, float], ...] = (
    (Regex(rf"[^\t]{{1,200}}\t[^\t]{{1,200}}\t(?=\ufeff?{STAMP})"), 0.0),
    (Regex(rf"\ufeff?{STAMP}(?: (?:\d\d[OE][+ ]?)?|$)"), 0.0),
    (Regex(rf"\[{STAMP}\] ?"), 0.0),
    (Regex(r"\[\d\d:\d\d:\d\d\][EWFi]?\s?:\s+(?:\[[^\]]{1,80}\]\s)?"), 0.0),
    (Regex(r"\[\d\d:\d\d:\d\d\](?: |$)"), 0.0),
    (Regex(r"#\d{1,4} \d{1,5}\.\d{1,3} "), 0.0),
    (Regex(r"##\[(?:error|group|endgroup|command|section|debug|warning)\]"), 0.0),
    (Regex(r"#\d{1,4} (?=ERROR|CACHED|DONE)"), 0.0),
    (Regex(r"@[\w.-]{1,60}/[\w.-]{1,60}: "), 0.3),
    (Regex(r"\d\d:\d\d:\d\d(?:\.\d{3})?  ?(?!\d)"), 0.7),
    (Regex(r"[a-zA-Z][\w.-]{0,60}\s{0,30}\| ?"), 0.7),
    (Regex(r"\[\d{1,2}\] "), 0.7),
    (
        Regex(r"@?[\w./-]{1,80}:(?:[\w-]+:)?(?:build|test|lint|check|type-?check|dev|compile|e2e|unit): "),
        0.3,
    ),
    (Regex(r"[@\w./-]{1,80} [\w:-]{1,40}: "), 0.7),
)


def clean_lines(text: str) -> list[str]:
    """The visible lines: no escape codes, wrapper prefixes or trailing blanks, none longer than MAX_LINE."""
    if "\x1b" in text:
        text = ESCAPES.sub("", text)
    elif len(RESIDUE.findall(text[:RESIDUE_SAMPLE])) >= RESIDUE_SEEN:
        text = RESIDUE.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = CONTROL.sub("", text)
    lines = [line[:MAX_LINE].rstrip() for line in text.split("\n")]
    if GO_EVENT in text:
        lines = [_said(line) if GO_EVENT in line else line for line in lines]
    if "travis_" in text or "section_" in text:
        lines = [
            MARKERS.sub("", line) if line.startswith(("travis_", "section_")) else line for line in lines
        ]
    return _without_prefixes(lines)


def _said(event: str) -> str:
    """What a test printed, out of one event of `go test -json`."""
    try:
        said = json.loads(event).get("Output", "")
    except (ValueError, AttributeError, RecursionError):
        return event
    return str(said).rstrip()


def _without_prefixes(lines: list[str]) -> list[str]:
    for pattern, share in PREFIXES:
        match = pattern.match
        if _carry(match, lines, share):
            lines = [line[found.end() :] if (found := match(line)) else line for line in lines]
    return lines


def _carry(match: Callable[[str], re.Match[str] | None], lines: Sequence[str], share: float) -> bool:
    """Whether the prefix is there; judged on a sample: wrappers prefix every line."""
    sample = [line for line in lines[:: max(1, len(lines) // 400)] if line]
    carried = sum(1 for line in sample if match(line))
    if share == 0.0:
        return carried > 0
    return carried >= 3 and carried >= share * len(sample)
