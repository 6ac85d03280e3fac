"""A prompt is typed sections with priorities; over budget the least important go first, never the essential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

CUT_NOTICE = "\n[cut to fit the prompt budget]"


class Priority(IntEnum):
    """What goes first when the prompt is too long. ESSENTIAL sections are never cut."""

    BACKGROUND = 1
    HELPFUL = 2
    IMPORTANT = 3
    ESSENTIAL = 4


@dataclass(frozen=True, slots=True)
class Section:
    """`limit` is the section's own budget in characters; essential ones are bounded by whoever makes them."""

    title: str
    body: str
    priority: Priority
    limit: int = 10_000

    @property
    def text(self) -> str:
        return f"## {self.title}\n\n{self.body.strip()}" if self.title else self.body.strip()


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text to send, and what had to go to make it fit."""

    text: str
    raw_chars: int
    cut: tuple[str, ...] = ()


def assemble(sections: Sequence[Section], budget: int) -> Prompt:
    """Join the sections in order. Over budget, whole sections go from the lowest priority up, last first;
    one that would fit in part is cut at its end instead."""
    titles = {f"## {section.title}".casefold() for section in sections if section.title}
    kept = [_within_own_limit(_as_data(section, titles)) for section in sections if section.body.strip()]
    raw = len(_join(kept))
    cut: list[str] = []
    while (excess := len(_join(kept)) - budget) > 0:
        candidates = [i for i, s in enumerate(kept) if s.priority is not Priority.ESSENTIAL]
        if not candidates:
            break
        index = min(candidates, key=lambda i: (kept[i].priority, -i))
        section = kept[index]
        cut.append(section.title)
        room = len(section.body) - excess - len(CUT_NOTICE)
        if room >= len(section.body) // 4 and not section.body.endswith(CUT_NOTICE):
            kept[index] = _shortened(section, room)
        else:
            del kept[index]
    return Prompt(_join(kept) + "\n", raw, tuple(dict.fromkeys(cut)))


def fenced(text: str) -> str:
    """Log text as a code block whose fence nothing inside can close."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _as_data(section: Section, titles: set[str]) -> Section:
    """A goal or an issue that repeats one of our headings must not open a section; inside a fence nothing can."""
    shown, fence = [], ""
    for line in section.body.split("\n"):
        forged = line.strip().rstrip("# ").casefold() in titles
        shown.append(f"> {line}" if forged and not fence else line)
        fence = _fence_after(line, fence)
    # A fence that is never closed is none: its text may have been made to look like one.
    if fence:
        shown = [f"> {one}" if one.strip().rstrip("# ").casefold() in titles else one for one in shown]
    return replace(section, body="\n".join(shown))


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after this line, "" for none."""
    if fence:
        return "" if line == fence else fence
    return line.removesuffix("text") if line.startswith("```") and line.endswith("text") else ""


def _within_own_limit(section: Section) -> Section:
    if section.priority is Priority.ESSENTIAL or len(section.body) <= section.limit:
        return section
    return _shortened(section, section.limit - len(CUT_NOTICE))


def _shortened(section: Section, room: int) -> Section:
    """Cut at the end; a fence that was cut open is closed again, or all that follows would stand in it."""
    body = section.body[:room]
    if fence := _open_fence(body):
        body = section.body[: max(0, room - len(fence) - 1)]
        body += f"\n{fence}" if _open_fence(body) == fence else ""
    return Section(section.title, body + CUT_NOTICE, section.priority, section.limit)


def _open_fence(text: str) -> str:
    fence = ""
    for line in text.split("\n"):
        fence = _fence_after(line, fence)
    return fence


def _join(sections: Sequence[Section]) -> str:
    return "\n\n".join(section.text for section in sections)
