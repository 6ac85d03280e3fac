"""A prompt is typed sections with priorities; over budget the least important go first, never the essential."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from buildloop.prompt.contain import contained, title_key

CUT_NOTICE = "\n[cut to fit the prompt budget]"


class Priority(IntEnum):
    """What goes first when the prompt is too long. ESSENTIAL sections are never cut."""

    BACKGROUND = 1
    HELPFUL = 2
    IMPORTANT = 3
    ESSENTIAL = 4


@dataclass(frozen=True, slots=True)
class Section:
    """`limit` is the section's own budget in characters; essential ones are bounded by whoever makes them. `quotes`
    says that what others wrote stands in fences of ours, see `contain`."""

    title: str
    body: str
    priority: Priority
    limit: int = 10_000
    quotes: bool = False

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
    titles = {title_key(section.title) for section in sections if section.title}
    kept = [
        _within_own_limit(_contained(section, titles), titles) for section in sections if section.body.strip()
    ]
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
            kept[index] = _shortened(section, room, titles)
        else:
            del kept[index]
    return Prompt(_join(kept) + "\n", raw, tuple(dict.fromkeys(cut)))


def over_budget(prompt: Prompt, budget: int) -> str:
    """What to say about a prompt whose essential sections alone are too long; empty when all fits."""
    size = len(prompt.text.rstrip("\n"))
    if size <= budget:
        return ""
    return f"{size} characters cannot be cut (goal, gate, failure, rules), and --prompt-budget is {budget}"


def _within_own_limit(section: Section, titles: Collection[str]) -> Section:
    if section.priority is Priority.ESSENTIAL or len(section.body) <= section.limit:
        return section
    return _shortened(section, section.limit - len(CUT_NOTICE), titles)


def _contained(section: Section, titles: Collection[str]) -> Section:
    return replace(section, body=contained(section.body, titles, quotes=section.quotes))


def _shortened(section: Section, room: int, titles: Collection[str]) -> Section:
    """The beginning. A cut may leave a fence open or make a heading of half a line, so it is contained again."""
    size = room
    while (
        len(body := contained(section.body[: max(size, 0)], titles, quotes=section.quotes)) > room
        and size > 0
    ):
        size -= len(body) - room
    return replace(section, body=body + CUT_NOTICE)


def _join(sections: Sequence[Section]) -> str:
    return "\n\n".join(section.text for section in sections)
