"""Untrusted text inside Markdown: whatever a log, a goal or an agent says stays text.

Everything of others stands in a code span or a fence: there neither HTML, mentions, issue references nor closing
words mean anything. What must stand in a sentence is escaped.
"""

from __future__ import annotations

import re
from html import escape

from buildloop.prompt.contain import fenced
from buildloop.text import one_line, plain_text

# Characters that take no room: they hide text from a reader, or make two different names look the same.
INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028\u2029\u2060-\u206f\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
MARKS = re.compile(r"[\\`*\[\]|~]|(?<!\w)_|_(?!\w)|^[#+=-]|(?<=^\d)[.)]")
# What GitHub makes a link or a call of: @name, #12, GH-12, an address. A space of no width between keeps it a word.
CALLS = re.compile(r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=\bGH)(?=-\d)|(?<=:)(?=//)|(?<=\bwww)(?=\.)", re.I)
BREAK = "\u200b"


def visible(text: str) -> str:
    """`text` without terminal codes, control characters and characters nobody can see."""
    return INVISIBLE.sub("", plain_text(text).encode("utf-8", "replace").decode("utf-8"))


def code(text: str, limit: int = 200) -> str:
    """A code span of one line whose end nothing inside can be."""
    inside = one_line(visible(text), limit) or " "
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", inside)), default=0))
    pad = " " if inside.startswith("`") or inside.endswith("`") else ""
    return f"{ticks}{pad}{inside}{pad}{ticks}"


def cell(text: str, limit: int = 200) -> str:
    """A code span that fits into one cell of a table; empty stays empty."""
    return code(text, limit).replace("|", "\\|") if text.strip() else ""


def sentence(text: str, limit: int = 600) -> str:
    """Prose of others within ours: no markup, no HTML, nobody is called and nothing is referred to."""
    flat = escape(one_line(visible(text), limit), quote=False)
    return uncalled(MARKS.sub(r"\\\g<0>", flat))


def uncalled(text: str) -> str:
    """`text` in which nobody is called and nothing referred to, so that no "closes #12" of others closes anything."""
    return CALLS.sub(BREAK, text)


def block(text: str) -> str:
    """A fence around lines of a log."""
    return fenced(visible(text).rstrip() or "(nothing)")


def folded(title: str, body: str) -> str:
    """A closed `<details>`. `body` is Markdown of ours; the empty lines make GitHub read it as such."""
    return f"<details>\n<summary>{escape(visible(title), quote=False)}</summary>\n\n{body}\n\n</details>"
