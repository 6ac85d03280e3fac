"""Words of others inside a section of the prompt: they open no section of their own and swallow none of ours.

A line that would do so is quoted with `> `; everything else stays as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence

QUOTE = "> "
LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
HEADING = re.compile(r"\s*(?:#+|<h[1-6]\b)", re.I)
TAG = re.compile(r"</?h[1-6]\b[^>]*>", re.I)
UNDERLINE = re.compile(r"\s*(?:=+|-+)\s*")
OUR_FENCE = re.compile(r"(`{3,})text")
# What opens or closes a block of code, also within a list or a quotation. Backticks after it make it a span.
FENCE = re.compile(r"(?P<before>[\s>*+\-\d.)]*)(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")


def fenced(text: str) -> str:
    """Log text as a code block whose fence nothing inside can close."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def title_key(title: str) -> str:
    """What makes two titles the same to a reader: letters and digits, however they are set."""
    shown = "".join(
        char for char in unicodedata.normalize("NFKC", title) if unicodedata.category(char) != "Cf"
    )
    return re.sub(r"[\W_]+", " ", shown.casefold()).strip()


def contained(body: str, titles: Collection[str], *, quotes: bool) -> str:
    """`quotes` says that words of others stand in fences made by `fenced`. Only then a fence is trusted, and one that
    was cut off is closed; otherwise nothing in `body` is ours."""
    lines = [line for line in LINES.findall(body) if line]
    shown = _quoting(lines, titles) if quotes else _foreign(lines, titles)
    return "".join(shown)


def _quoting(lines: Sequence[str], titles: Collection[str]) -> Iterator[str]:
    fence = ""
    for number, line in enumerate(lines):
        said = line.rstrip("\r\n")
        if fence:
            yield line
            fence = "" if said == fence else fence
        elif (opened := OUR_FENCE.fullmatch(said)) and number + 1 < len(lines):
            yield line
            fence = opened[1]
        else:
            yield _quoted(line) if FENCE.match(said) or _forged(lines, number, titles) else line
    if fence:
        yield fence if lines[-1].endswith(("\r", "\n")) else f"\n{fence}"


def _foreign(lines: Sequence[str], titles: Collection[str]) -> Iterator[str]:
    even = _fences_are_even(lines)
    for number, line in enumerate(lines):
        odd = not even and FENCE.match(line.rstrip("\r\n"))
        yield _quoted(line) if odd or _forged(lines, number, titles) else line


def _forged(lines: Sequence[str], number: int, titles: Collection[str]) -> bool:
    """A heading with one of our titles, in any of the forms a reader takes for one."""
    following = lines[number + 1] if number + 1 < len(lines) else ""
    underlined = bool(UNDERLINE.fullmatch(following)) and bool(following.strip())
    parts = lines[number].splitlines() or [""]
    return any(
        (underlined or HEADING.match(unicodedata.normalize("NFKC", part)))
        and title_key(TAG.sub(" ", part)) in titles
        for part in parts
    )


def _fences_are_even(lines: Sequence[str]) -> bool:
    """Every fence is closed at its own depth, and nothing in it leaves the list it may stand in: then all readers
    agree on where it ends."""
    opened: tuple[int, str] | None = None
    for line in lines:
        found, depth = FENCE.match(line.rstrip("\r\n")), _depth(line)
        apart = found is not None and (found["before"].strip(" \t") or (opened and depth != opened[0]))
        if found and (opened is None or _closes(found, opened[1])):
            if apart:
                return False
            opened = (depth, found["fence"]) if opened is None else None
        elif opened and line.strip() and depth < opened[0]:
            return False
    return opened is None


def _closes(found: re.Match[str], fence: str) -> bool:
    return found["fence"].startswith(fence) and not found["info"].strip(" \t")


def _depth(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip(" "))


def _quoted(line: str) -> str:
    """Without the characters that some readers take for the end of a line."""
    said = line.rstrip("\r\n")
    return QUOTE + " ".join(said.splitlines()) + line[len(said) :]
