"""Variants of values that were generated: texts cut, doubled, spliced with each other and spoiled.

A generated value takes ten times as long to make as a variant of it, and the variants go where no rule of the generator
leads.
"""

from __future__ import annotations

from random import Random
from typing import Any

# A shorter text is a name or a suffix that the caller needs as it is.
SHORTEST = 8
SPOILERS = (
    *"\0\t\n\r\"'`\\{}[]<>&%#:;,=|$-",
    "\x1b[31m",
    "\u2028",
    "\ufeff",
    "🙂",
    "\n---\n",
    "```",
    "]]>",
    "&amp;",
    "\\u0000",
    "NaN",
    "1e999",
    "-1",
    "null",
    "9" * 30,
)


def texts_in(value: object) -> list[str]:
    """The texts of a value, wherever they stand in it; bytes as the text of the same bytes."""
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if isinstance(value, str):
        return [value] if len(value) >= SHORTEST else []
    if isinstance(value, dict):
        value = list(value.values())
    return [text for part in value for text in texts_in(part)] if isinstance(value, list | tuple) else []


def variant(value: Any, others: list[str], random: Random) -> Any:
    """The same shape with some of its texts changed."""
    if isinstance(value, bytes):
        text = variant(value.decode("latin-1"), others, random)
        return text.encode("latin-1", "replace")
    if isinstance(value, str):
        return _changed(value, random.choice(others), random) if len(value) >= SHORTEST else value
    if isinstance(value, dict):
        return {key: variant(part, others, random) for key, part in value.items()}
    if isinstance(value, list):
        return [variant(part, others, random) for part in value]
    if type(value) is tuple:
        return tuple(variant(part, others, random) for part in value)
    return value


def _changed(text: str, other: str, random: Random) -> str:
    for _ in range(random.randint(1, 4)):
        start, end = sorted(random.randint(0, len(text)) for _ in range(2))
        other_start, other_end = sorted(random.randint(0, len(other)) for _ in range(2))
        piece = random.choice(
            (
                "",
                text[start:end] * 2,
                random.choice(SPOILERS),
                other[other_start:other_end],
                text[end:start:-1],
            )
        )
        text = text[:start] + piece + text[random.choice((start, end)) :]
    return text[: 4 * len(other) + 4000]
